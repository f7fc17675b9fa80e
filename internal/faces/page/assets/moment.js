// @ts-check
// The moment that is looked at: what the network was then by its faults, and the note of a part that shows the present.
import { get } from './api.js';
import { formatCount } from './format.js';
import { h, showIf, writeText } from './kit.js';
import { readRoute } from './route.js';
import * as store from './store.js';

/**
 * isPast reports whether a route looks at a moment before the latest block.
 * @param {import('./route.js').Route} r
 */
export function isPast(r) { return r.at !== null && r.at < store.headHeight(); }

/**
 * momentOf is the moment of a route, as questions have it; '' is the present.
 * @param {import('./route.js').Route} [r]
 */
export function momentOf(r = readRoute()) { return isPast(r) ? `h${r.at}` : ''; }

/**
 * heightIfBornLater is 0 for a thing that existed at a moment. To ask for one at a moment before it began would be a failed question, of
 * which a browser complains.
 * @param {string} path
 * @param {string} field that says when it began
 * @param {string} at
 * @param {AbortSignal} signal
 * @returns {Promise<number>}
 */
export async function heightIfBornLater(path, field, at, signal) {
  const born = at ? (await get(path, {}, signal))[field] : 0;
  return born > Number(at.slice(1)) ? born : 0;
}

/**
 * makeNotYetNote is for a thing that began after the moment.
 * @param {string} what it was in that block
 * @param {number} born
 * @param {string} at
 */
export function makeNotYetNote(what, born, at) { return h('p', { class: 'sentence' }, `It was ${what} in block ${formatCount(born)}: at block ${formatCount(Number(at.slice(1)))} there was none.`); }

/**
 * makePresentNote says, where an earlier moment is looked at, that a part shows the present.
 * @param {string} what the part, with its verb
 */
export function makePresentNote(what) {
  const el = h('p', { class: 'present', hidden: true });
  return {
    el,
    /** @param {import('./route.js').Route} r */
    draw(r) {
      const past = isPast(r);
      showIf(el, past);
      if (past) writeText(el, `${what} of the present, block ${formatCount(store.headHeight())}, and not of block ${formatCount(/** @type {number} */ (r.at))}.`);
    },
  };
}

/** The verbs that end others, or are over at once: they are not in force. */
const PASSING_VERBS = ['heal', 'restart', 'thaw', 'wipe', 'panic', 'cheat'];

/** @param {any} f */
function mayLast(f) { return !PASSING_VERBS.includes(f.verb) && Boolean(f.order); }

/** faultsNow are the faults in force. */
export function faultsNow() { return (store.latestBeat?.faults || []).filter((/** @type {any} */ f) => !f.ended && mayLast(f)); }

/**
 * faultsWithin are the faults that were in force some time between two times; null where they are not known.
 * @param {number} from
 * @param {number} to
 * @returns {any[]|null}
 */
export function faultsWithin(from, to) {
  return store.latestBeat?.faults ? store.latestBeat.faults.filter((/** @type {any} */ f) => mayLast(f) && f.began_ms <= to && (f.ended_ms === null || f.ended_ms >= from)) : null;
}

/**
 * finalTimeOf is by the network's clock, as faults have it: an advance moves the timestamps of blocks, and not that clock. It is null
 * where the view of the block is not known.
 * @param {store.Block|undefined} b
 * @returns {number|null}
 */
export function finalTimeOf(b) {
  const v = b && store.views.get(b.view);
  return v && v.height === b.height ? v.began + (v.took ?? 0) / 1000 : null;
}

/**
 * faultsAt are the faults in force when a block became final; null where the devnet did not run yet, or does not tell them.
 * @param {number} height
 * @returns {any[]|null}
 */
export function faultsAt(height) {
  store.fillGap('blocks', 1, height);
  store.fillGap('views', store.RING_SIZE);
  const time = finalTimeOf(store.blocks.last(1, height)[0]);
  return time === null ? null : faultsWithin(time, time);
}

/**
 * nodesAt are the validators as faults left them: heights and connections of then are not kept.
 * @param {any[]} nodes
 * @param {any[]} faults
 */
export function nodesAt(nodes, faults) {
  const hasFault = (/** @type {string} */ node, /** @type {string} */ verb) => faults.some((f) => f.verb === verb && f.order.node === node);
  return nodes.map((n) => ({ ...n, then: true, running: !hasFault(n.name, 'crash'), missing: hasFault(n.name, 'freeze') ? ['frozen'] : [] }));
}

/**
 * linksAt are the links between validators that faults cut or changed, in both directions.
 * @param {any[]} nodes
 * @param {any[]} faults
 */
export function linksAt(nodes, faults) {
  const names = nodes.map((n) => n.name);
  const links = /** @type {Map<string, any>} */ (new Map());
  const sideOf = (/** @type {string[][]} */ groups, /** @type {string} */ name) => groups.findIndex((g) => g.includes(name));
  const putLink = (/** @type {string} */ a, /** @type {string} */ b, /** @type {any} */ more) => links.set(a + ' ' + b, { from: a, to: b, up: true, cut: false, rule: null, ...links.get(a + ' ' + b), ...more });
  for (const { verb, order } of faults) {
    if (verb === 'link') {
      const { latency, jitter, loss, duplicate, reorder, bandwidth } = order;
      const rule = Object.fromEntries(Object.entries({ latency, jitter, loss, duplicate, reorder, bandwidth }).filter(([, v]) => v));
      putLink(order.a, order.b, { rule });
      if (!order.one_way) putLink(order.b, order.a, { rule });
    }
    if (verb !== 'partition' && verb !== 'bridge') continue;
    for (const a of names) {
      for (const b of names) {
        const [p, q] = verb === 'partition' ? [sideOf(order.groups, a), sideOf(order.groups, b)] : [sideOf([order.left, order.right], a), sideOf([order.left, order.right], b)];
        if (a !== b && p !== q && (verb === 'partition' || a !== order.node && b !== order.node && p >= 0 && q >= 0)) putLink(a, b, { cut: true, up: false });
      }
    }
  }
  return { links: [...links.values()] };
}

/** A list is asked for in at most MOST_ANSWERS answers of ANSWER_ROWS rows. */
const [ANSWER_ROWS, MOST_ANSWERS] = [1000, 10];

/**
 * fetchRows takes the rows that keep chooses, of as many answers as they need; cut where there may be more.
 * @param {string} path
 * @param {{[name: string]: any}} query
 * @param {(row: any) => boolean} keep
 * @param {number} many
 * @param {AbortSignal} signal
 * @returns {Promise<{list: any[], cut: boolean}>}
 */
export async function fetchRows(path, query, keep, many, signal) {
  const list = [];
  for (let page = 0; page < MOST_ANSWERS; page++) {
    const rows = await get(path, { ...query, limit: ANSWER_ROWS, offset: page * ANSWER_ROWS }, signal);
    list.push(...rows.filter(keep));
    if (rows.length < ANSWER_ROWS || list.length > many) return { list, cut: false };
  }
  return { list, cut: true };
}


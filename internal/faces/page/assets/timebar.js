// @ts-check
// The time bar: the latest blocks, failed views among them, and the moment that is looked at.
import { formatCount, formatPlural } from './format.js';
import { writeAttribute, h, showIf, writeText } from './kit.js';
import { makeChart, findRange } from './chart.js';
import { faultWords } from './faults.js';
import { faultsWithin, finalTimeOf } from './moment.js';
import * as route from './route.js';
import * as store from './store.js';

const LEAST_BLOCKS = 240;

export function makeTimeBar() {
  const chart = makeChart({
    title: 'latest blocks', height: 34, draw: drawBlocks, words: (d) => `the latest ${d.rows.length} blocks; ${d.failed.size} of them followed a failed view; ${d.faults.length} faults were in force`,
    table: (d) => ({ head: ['height', 'view', 'transactions', 'cycles'], rows: d.rows.map((b) => [b.height, b.view, b.txs, b.cycles]) }),
    at: (x, _y, w, _h, d) => {
      const b = d.rows[Math.floor((x - (w - d.rows.length * blockWidth(w, d.many))) / blockWidth(w, d.many))];
      const forces = b ? d.faults.filter((f) => wasInForce(f, finalTimeOf(b))).map(faultWords) : [];
      return b ? { text: `block ${formatCount(b.height)}, ${formatPlural(b.txs, 'transaction')}, ${formatPlural(b.fired, 'fire')}${d.failed.has(b.height) ? ', after a failed view' : ''}${forces.length ? `; ${forces.slice(0, 3).join('; ')}` : ''}`, href: route.hrefWith({ at: `h${b.height}` }) } : null;
    },
    brush: (a, z, w, d) => {
      const at = (/** @type {number} */ x) => d.rows[Math.min(d.rows.length - 1, Math.max(0, Math.floor((x - (w - d.rows.length * blockWidth(w, d.many))) / blockWidth(w, d.many))))];
      return d.rows.length ? route.hrefWith({ from: at(a).height, to: at(z).height }) : null;
    },
  });
  const momentText = h('span', { class: 'where' });
  const keys = h('span', { class: 'keys legend', 'aria-hidden': 'true' }, [['accent', 'executed'], ['dim', 'empty'], ['bad', 'failed view'], ['warn', 'fault']].map(([ink, text]) => h('span', null, h('i', { 'data-ink': ink }), text)));
  const followButton = h('button', { type: 'button', hidden: true, title: 'follow the latest block (l)', onclick: () => route.setParams({ at: '' }) }, 'follow');
  const el = h('div', { class: 'timebar' }, momentText, chart.el, keys, followButton);
  /** @type {[number, number]} */
  let ends = [1, 1];
  return {
    el,
    /** shown are the first and the last height of the bar. */
    shown: () => ends,
    /**
     * @param {route.Route} r
     * @param {string} tone the state of the network
     */
    draw(r, tone) {
      const { many, to } = chooseBounds(r);
      store.fillGap('blocks', many, to);
      const rows = store.blocks.last(many, to);
      ends = [rows[0]?.height ?? 1, rows[rows.length - 1]?.height ?? 1];
      const failed = new Set();
      for (const b of rows) {
        const before = store.blocks.get(b.height - 1);
        if (before && b.view > before.view + 1 && !b.skipped) failed.add(b.height);
      }
      const [first, last] = [finalTimeOf(rows[0]), finalTimeOf(rows[rows.length - 1])];
      const faults = (faultsWithin(first ?? 0, last ?? 0) || []).slice(-40);
      chart.set({ rows, failed, faults, many, from: r.from, to: r.at });
      writeText(momentText, r.at === null ? store.lostAt ? 'no answer' : store.latestBeat?.ready?.held ? 'held' : store.latestBeat ? 'live' : '' : r.from === null ? `at ${formatCount(r.at)}` : `${formatCount(r.from)} to ${formatCount(r.at)}`);
      writeAttribute(momentText, 'data-tone', r.at === null ? tone : 'warn');
      showIf(followButton, r.at !== null);
    },
  };
}

/**
 * @param {any} f
 * @param {number|null} time
 */
function wasInForce(f, time) { return time !== null && f.began_ms <= time && (f.ended_ms === null || f.ended_ms >= time); }

/**
 * chooseBounds returns how many blocks the bar shows, and the last: a range with as much again around it.
 * @param {route.Route} r
 */
function chooseBounds(r) {
  const head = store.headHeight();
  const to = Math.min(r.at ?? head, head);
  if (r.from === null) return { many: LEAST_BLOCKS, to };
  const long = to - r.from + 1;
  const many = Math.min(store.RING_SIZE, Math.max(LEAST_BLOCKS, 2 * long));
  return { many, to: Math.min(head, to + Math.floor((many - long) / 2)) };
}

/**
 * @param {number} w
 * @param {number} many
 */
function blockWidth(w, many) { return many > LEAST_BLOCKS ? w / many : Math.max(2, w / many); }

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} w
 * @param {number} hgt
 * @param {{rows: store.Block[], failed: Set<number>, faults: any[], many: number, from: number|null, to: number|null}} d
 * @param {import('./chart.js').Inks} ink
 */
function drawBlocks(ctx, w, hgt, d, ink) {
  const each = blockWidth(w, d.many);
  const most = findRange(d.rows.map((b) => b.cycles), 0)[1];
  const begin = w - d.rows.length * each;
  ctx.fillStyle = ink.line;
  ctx.fillRect(0, hgt - 1, w, 1);
  ctx.fillStyle = ink.warn;
  const times = d.faults.length ? d.rows.map(finalTimeOf) : [];
  for (const f of d.faults) {
    times.forEach((time, i) => { if (wasInForce(f, time)) ctx.fillRect(begin + i * each, 6, each, 2); });
  }
  d.rows.forEach((b, i) => {
    const x = begin + i * each;
    const tall = 3 + (b.cycles / most) * (hgt - 14);
    ctx.fillStyle = b.txs || b.fired ? ink.accent : ink.dim;
    ctx.fillRect(x, hgt - tall, Math.max(1, each - 1), tall);
    if (d.from !== null && (b.height < d.from || b.height > /** @type {number} */ (d.to))) {
      ctx.globalAlpha = 0.65;
      ctx.fillStyle = ink.ground;
      ctx.fillRect(x, 0, each + 0.5, hgt - 1);
      ctx.globalAlpha = 1;
    }
    if (d.failed.has(b.height)) {
      ctx.fillStyle = ink.bad;
      ctx.fillRect(x, 0, Math.max(2, each - 1), 5);
    }
  });
}

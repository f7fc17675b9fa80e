// @ts-check
// What the page knows of the network: the latest beat, and rings of blocks and views. Both are of one
// genesis and one process: another one, or a revert, empties all.
import { get } from './api.js';
import { followBeats } from './live.js';

/**
 * @typedef {{height: number, skipped: number, view: number, proposer: string, at: number, txs: number, cycles: number, cells: number,
 *   lane: number, budget: number, fired: number, deferred: number, ended: number, feeCycle: string, feeCell: string, feeLane: string}} Block
 * @typedef {{epoch: number, view: number, leader: string, outcome: string, height: number|null, began: number, took: number|null,
 *   notarize: string[], nullify: string[], finalize: string[], gaveUp: {validator: string, cause: string, detail: string}[],
 *   cause: string, text: string}} View
 */

/** RING_SIZE is how many of the latest blocks and views are kept. */
export const RING_SIZE = 4096;

/**
 * Ring keeps rows by number; one that is RING_SIZE older gives its place. Older rows that were asked for
 * are kept beside it, where beyond says how many.
 * @template T
 */
class Ring {
  constructor(beyond = 0) {
    /** @type {(T|undefined)[]} */
    this.rows = new Array(RING_SIZE);
    this.head = 0;
    this.numbers = new Float64Array(RING_SIZE).fill(-1);
    this.beyond = beyond;
    /** @type {Map<number, T>} */
    this.older = new Map();
  }
  clear() {
    this.rows.fill(undefined);
    this.numbers.fill(-1);
    this.head = 0;
    this.older.clear();
  }
  /**
   * @param {number} n
   * @param {T} row
   */
  put(n, row) {
    if (n + RING_SIZE <= this.head) return this.keep(n, row);
    this.rows[n % RING_SIZE] = row;
    this.numbers[n % RING_SIZE] = n;
    if (n > this.head) this.head = n;
  }
  /**
   * @param {number} n
   * @param {T} row
   */
  keep(n, row) {
    this.older.delete(n);
    this.older.set(n, row);
    for (const first of this.older.keys()) {
      if (this.older.size <= this.beyond) return;
      this.older.delete(first);
    }
  }
  /** least is the lowest number that has a place. */
  get least() { return this.beyond ? 1 : Math.max(1, this.head - RING_SIZE + 1); }
  /**
   * @param {number} n
   * @returns {T|undefined}
   */
  get(n) { return n >= 0 && this.numbers[n % RING_SIZE] === n ? this.rows[n % RING_SIZE] : this.older.get(n); }
  /**
   * last are up to so many rows up to a number, oldest first; gaps are left out.
   * @param {number} many
   * @param {number} [to]
   * @returns {T[]}
   */
  last(many, to = this.head) {
    const out = [];
    for (let n = Math.min(to, this.head), left = RING_SIZE; n >= this.least && out.length < many && left > 0; n--, left--) {
      const row = this.get(n);
      if (row) out.push(row);
    }
    return out.reverse();
  }
}

// older ones of the view, and of the time bar
/** @type {Ring<Block>} */ export const blocks = new Ring(2 * RING_SIZE);
/** @type {Ring<View>} */ export const views = new Ring();

/**
 * latestBeat is null before the first.
 * @type {any}
 */
export let latestBeat = null;
/** lostAt is since when no beat comes, by performance.now(); 0: they come. */
export let lostAt = 0;
/** changedAt is when the head moved last, by performance.now(). */
let changedAt = performance.now();
/** resetCount counts how often all was dropped: what was fetched before is stale. */
export let resetCount = 0;
/** castVersion counts how often validators got other names, or the network became strict. */
export let castVersion = 0;
let castKey = '';

/** @type {Set<() => void>} */
const listeners = new Set();
/** PACE_BLOCKS is how many of the latest blocks the pace is of. */
const PACE_BLOCKS = 13;
let isDrawScheduled = false;

/**
 * listenToBeats calls each at each beat, at most 30 times a second, and when the stream is lost.
 * @param {() => void} each
 * @returns {() => void}
 */
export function listenToBeats(each) {
  listeners.add(each);
  return () => listeners.delete(each);
}

function scheduleDraw() {
  if (isDrawScheduled) return;
  isDrawScheduled = true;
  requestAnimationFrame(() => {
    isDrawScheduled = false;
    for (const each of listeners) each();
  });
}

/** drawSoon has everything drawn anew. */
export function drawSoon() { scheduleDraw(); }

let wakeTimer = 0;
let wakeAt = Infinity;

/**
 * drawLater has everything drawn after a time in ms, also where no beat comes until then.
 * @param {number} wait
 */
export function drawLater(wait) {
  const at = performance.now() + wait;
  if (at >= wakeAt) return;
  clearTimeout(wakeTimer);
  wakeAt = at;
  wakeTimer = setTimeout(() => {
    wakeAt = Infinity;
    scheduleDraw();
  }, wait);
}

/** followNetwork takes the state that the browser asked for with the page, and then follows the beats. */
export function followNetwork() {
  get('/page/now').then(takeBeat, () => { /* the beats say what is wrong */ }).then(() => {
    scheduleDraw();
    followBeats((m) => {
      if (m.beat) takeBeat(JSON.parse(m.beat));
      else if (m.lost && !lostAt) lostAt = performance.now();
      scheduleDraw();
    });
  });
}

/** @param {any} beat */
function takeBeat(beat) {
  // a network that stops has none
  if (!beat?.nodes) return;
  lostAt = 0;
  if (latestBeat && (latestBeat.g !== beat.g || latestBeat.ready && beat.ready && latestBeat.ready.genesis !== beat.ready.genesis)) dropRows();
  const before = headHeight();
  beat.nodes.sort((/** @type {any} */ a, /** @type {any} */ b) => compareNames(a.name || a.address, b.name || b.address));
  latestBeat = beat;
  const who = JSON.stringify([beat.ready?.strict, beat.nodes.map((/** @type {any} */ n) => [n.address, n.name])]);
  if (who !== castKey) castVersion++;
  castKey = who;
  if (beat.blocks) takeBlocks(beat.blocks);
  if (beat.views) takeViews(beat.views);
  const at = performance.now();
  if (headHeight() !== before) changedAt = at;
}

/**
 * measurePace returns blocks a second, by the middle one of the times between the latest blocks: a travel is one of them. Where no block
 * comes for twice as long it falls.
 */
export function measurePace() {
  const rows = blocks.last(PACE_BLOCKS);
  const gaps = rows.slice(1).map((b, i) => (b.at - rows[i].at) / (b.height - rows[i].height)).sort((a, b) => a - b);
  if (gaps.length < 2) return 0;
  const middle = gaps[gaps.length >> 1];
  const quiet = performance.now() - changedAt;
  const between = quiet > 2 * middle ? quiet : middle;
  return between > 0 ? 1000 / between : 0;
}

/**
 * compareNames orders v2 before v10.
 * @param {string} a
 * @param {string} b
 */
export function compareNames(a, b) { return a.localeCompare(b, 'en', { numeric: true }); }

function dropRows() {
  blocks.clear();
  views.clear();
  resetCount++;
}

/** headHeight is the latest final height. */
export function headHeight() { return latestBeat?.blocks?.head ?? latestBeat?.ready?.height ?? 0; }

/**
 * rowsFromHeight are all where no height is given.
 * @template T
 * @param {T[]} rows
 * @param {number|null} from
 * @param {(row: T) => number} height
 */
export function rowsFromHeight(rows, from, height) { return from === null ? rows : rows.filter((row) => height(row) >= from); }

/**
 * viewAtHeight is the view of the latest block up to a height; null where none is known.
 * @param {number} height
 */
export function viewAtHeight(height) { return blocks.last(1, height)[0]?.view ?? null; }

/** @param {any} c */
function takeBlocks(c) {
  const names = c.nodes.map((/** @type {any} */ n) => n.name || n.address);
  for (let i = 0; i < c.height.length; i++) {
    blocks.put(c.height[i], { height: c.height[i], skipped: c.skipped[i], view: c.view[i], proposer: names[c.proposer[i]] || '', at: c.timestamp_ms[i],
      txs: c.transactions[i], cycles: c.cycles_used[i], cells: c.cells_used[i], lane: c.timer_cycles_used[i], budget: c.lane_budget[i],
      fired: c.fired[i], deferred: c.deferred[i], ended: c.ended[i], feeCycle: c.basefee_cycle[i], feeCell: c.basefee_cell[i],
      feeLane: c.basefee_lane_timer[i] });
  }
}

/** @param {any} v */
function takeViews(v) {
  const names = v.validators.map((/** @type {any} */ n) => n.name || n.address);
  const namesOf = (/** @type {number[]} */ list) => (list || []).map((i) => names[i] || '?');
  for (const one of v.views) {
    views.put(one.view, { epoch: one.epoch, view: one.view, leader: names[one.leader] || '', outcome: one.outcome, height: one.height,
      began: one.began_ms, took: one.took_us, notarize: namesOf(one.notarize), nullify: namesOf(one.nullify), finalize: namesOf(one.finalize),
      gaveUp: (one.gave_up || []).map((/** @type {any} */ g) => ({ validator: names[g.validator] || '?', cause: g.cause, detail: g.detail })),
      cause: one.cause, text: one.text });
  }
}

/** The latest rows are asked for at most so often: a fast network has new gaps with each beat. */
const REQUESTS_APART_MS = 1000;

/**
 * Questions for rows, by what they are for.
 * @type {Map<string, {turn: number, last: number, at: number, runs: boolean, done: Promise<void>}>}
 */
const requests = new Map();
let sawGap = false;

/** takeGapSign reports whether a gap that was drawn since the last call still waits for its answer. */
export function takeGapSign() {
  const was = sawGap;
  sawGap = false;
  return was;
}

/**
 * findGap returns the range of the last rows up to a number that the beats did not tell; null where all is known.
 * @param {'blocks'|'views'} what
 * @param {number} many
 * @param {number} [to]
 */
function findGap(what, many, to) {
  const ring = what === 'blocks' ? blocks : views;
  const last = to ?? ring.head;
  // nobody has it yet
  if (last > ring.head || !latestBeat) return null;
  const from = Math.max(ring.least, last - many + 1);
  for (let n = last; n >= from; n--) if (!isKnown(ring, n)) return { from, to: n, last, latest: last === ring.head };
  return null;
}

/**
 * fillGap fetches what a drawing lacks: the last rows up to a number. What comes is drawn.
 * @param {'blocks'|'views'} what
 * @param {number} many
 * @param {number} [to]
 */
export function fillGap(what, many, to) {
  const gap = findGap(what, many, to);
  if (!gap) return;
  sawGap = true;
  const before = requests.get(what + many);
  const rest = before?.turn === resetCount && (before.last === gap.last || gap.latest) ? before.at + REQUESTS_APART_MS - performance.now() : 0;
  if (rest > 0) drawLater(rest);
  else requestGap(what, many, gap);
}

/**
 * waitForRows resolves once the last rows up to a number are there.
 * @param {'blocks'|'views'} what
 * @param {number} many
 * @param {number} [to]
 */
export async function waitForRows(what, many, to) {
  const gap = findGap(what, many, to);
  if (gap) await requestGap(what, many, gap);
}

/**
 * requestGap asks nothing where a question for the same rows runs already.
 * @param {'blocks'|'views'} what
 * @param {number} many
 * @param {{from: number, to: number, last: number}} gap
 */
function requestGap(what, many, { from, to, last }) {
  const before = requests.get(what + many);
  if (before?.runs && before.turn === resetCount && before.last === last) return before.done;
  const one = { turn: resetCount, last, at: performance.now(), runs: true, done: Promise.resolve() };
  requests.set(what + many, one);
  one.done = fetchRange(what, from, to).catch(() => { /* it is asked again */ }).then(() => {
    one.runs = false;
    scheduleDraw();
  });
  return one.done;
}

/**
 * fetchRange takes as many answers as the range needs.
 * @param {'blocks'|'views'} what
 * @param {number} from
 * @param {number} to
 */
async function fetchRange(what, from, to) {
  const turn = resetCount;
  for (let begin = from; begin && begin <= to;) {
    const answer = await get(what === 'blocks' ? '/blocks/columns' : '/views', { from: begin, to });
    if (turn !== resetCount) return;
    if (what === 'blocks') takeBlocks(answer); else takeViews(answer);
    const end = answer.next ? answer.next - 1 : to;
    const there = new Set(what === 'blocks' ? answer.height : answer.views.map((/** @type {any} */ v) => v.view));
    for (let n = begin; n <= end; n++) if (!there.has(n)) absentRows.set(what + n, turn);
    begin = end + 1;
  }
  while (absentRows.size > 2 * RING_SIZE) absentRows.delete(/** @type {any} */ (absentRows.keys().next().value));
}

/**
 * Numbers without a row: skipped heights, views that nobody told of.
 * @type {Map<string, number>}
 */
const absentRows = new Map();

/**
 * @param {Ring<any>} ring
 * @param {number} n
 */
function isKnown(ring, n) {
  return ring.get(n) !== undefined || absentRows.get((ring === blocks ? 'blocks' : 'views') + n) === resetCount;
}

/**
 * isViewAbsent reports whether a view is known to have no row.
 * @param {number} n
 */
export function isViewAbsent(n) { return !Number.isSafeInteger(n) || n < 1 || n > views.head || n + RING_SIZE <= views.head || absentRows.get('views' + n) === resetCount; }

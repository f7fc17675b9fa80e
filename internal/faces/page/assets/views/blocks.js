// @ts-check
// Blocks: the latest, or those up to a moment. Where blocks are many, a row stands for a bin of them.
import { formatTime, formatCompact, formatCount, formatDuration } from '../format.js';
import { writeAttribute, h, showIf, writeText } from '../kit.js';
import { drawAxis, makeChart, findRange, makeScale } from '../chart.js';
import { makeRowTable } from '../rows.js';
import * as route from '../route.js';
import * as store from '../store.js';

export const blocks = { id: 'blocks', title: 'Blocks', key: 'b', make: makeBlocksView };

const ROWS = 60;
const STRIP_BLOCKS = 300;
const BINS = [1, 10, 100, 1000];

/** @typedef {{from: number, to: number, list: store.Block[]}} Bin */

function makeBlocksView() {
  const chart = makeStrip();
  const some = h('span', { class: 'choices', role: 'group', 'aria-label': 'blocks in a row' }, BINS.map((n) => h('a', { href: '#', 'data-bin': n }, n === 1 ? 'each block' : formatCount(n))));
  const older = h('a', { href: '#' }, 'older');
  const newer = h('a', { href: '#' }, 'newer');
  const note = h('span', { class: 'dim' });
  const table = makeRowTable({
    label: 'blocks', size: ROWS, href: (r) => route.thingHref(`block:${r.to}`), sel: (r) => `block:${r.to}`, columns: /** @type {import('../rows.js').Column<Bin>[]} */ ([
      { name: 'height', text: (r) => (r.from === r.to ? formatCount(r.to) : `${formatCount(r.from)}–${formatCount(r.to)}`), main: true },
      { name: 'view', kind: 'num', text: (r) => (r.from === r.to ? formatCount(r.list[0].view) : formatBinRange(r, (b) => b.view)) },
      { name: 'proposer', text: (r) => (r.from === r.to ? r.list[0].proposer : `${new Set(r.list.map((b) => b.proposer)).size} of them`) },
      { name: 'time', text: (r) => formatTime(r.list[r.list.length - 1].at) },
      { name: 'txs', kind: 'num', text: (r) => formatBinRange(r, (b) => b.txs), main: true },
      { name: 'cycles', kind: 'num', text: (r) => formatBinRange(r, (b) => b.cycles), main: true },
      { name: 'cells', kind: 'num', text: (r) => formatBinRange(r, (b) => b.cells) },
      { name: 'timer cycles', kind: 'num', text: (r) => formatBinRange(r, (b) => b.lane) },
      { name: 'fired', kind: 'num', text: (r) => formatBinRange(r, (b) => b.fired) },
      { name: 'deferred', kind: 'num', text: (r) => formatBinRange(r, (b) => b.deferred), tone: (r) => (r.list.some((b) => b.deferred) ? 'warn' : '') },
      { name: 'base fee, wei', kind: 'num', text: (r) => formatBinRange(r, (b) => Number(b.feeCycle)), title: () => 'of a cycle' },
      { name: 'skipped', kind: 'num', text: (r) => r.list.reduce((n, b) => n + b.skipped, 0) || '' },
    ]) });
  const el = h('div', { class: 'cards' },
    h('section', { class: 'card whole' }, chart.el),
    h('section', { class: 'card whole' }, h('div', { class: 'bar' }, h('h2', null, 'Blocks'), some, older, newer, note), table.el));
  return {
    el,
    /** @param {route.Route} r */
    draw(r) {
      const to = Math.min(r.at ?? store.headHeight(), store.headHeight());
      const asked = Number(r.params.bin);
      const bin = BINS.includes(asked) ? asked : r.at !== null || store.measurePace() <= 10 ? 1 : store.measurePace() <= 100 ? 10 : 100;
      const need = Math.min(store.RING_SIZE, Math.max(STRIP_BLOCKS, ROWS * bin));
      store.fillGap('blocks', need, to);
      const list = store.rowsFromHeight(store.blocks.last(need, to), r.from, (b) => b.height);
      const bins = groupIntoBins(list, bin).slice(-ROWS).reverse();
      // the latest row is always the latest block
      if (bin > 1 && r.at === null) {
        const last = list[list.length - 1];
        if (last) bins.unshift({ from: last.height, to: last.height, list: [last] });
      }
      table.set(bins, r.sel);
      chart.set({ list: list.slice(-STRIP_BLOCKS), sel: Number(/^block:(\d+)$/.exec(r.sel)?.[1] ?? -1) });
      for (const a of some.children) {
        writeAttribute(a, 'href', route.hrefWith({ bin: a.getAttribute('data-bin') }));
        if (Number(a.getAttribute('data-bin')) === bin) writeAttribute(a, 'aria-current', 'true'); else a.removeAttribute('aria-current');
      }
      const low = bins.length ? bins[bins.length - 1].from : 0;
      showIf(older, low > 1);
      writeAttribute(older, 'href', route.hrefWith({ at: `h${Math.max(1, low - 1)}` }));
      showIf(newer, r.at !== null);
      const up = to + ROWS * bin;
      writeAttribute(newer, 'href', route.hrefWith({ at: up >= store.headHeight() ? '' : `h${up}` }));
      writeText(note, r.at === null ? store.latestBeat?.ready?.paused ? 'no block is made: the network is paused' : '' : r.from === null ? `up to ${formatCount(r.at)}` : `${formatCount(r.from)} to ${formatCount(r.at)}`);
    },
  };
}

/**
 * groupIntoBins takes bins of so many heights.
 * @param {store.Block[]} list
 * @param {number} bin
 * @returns {Bin[]}
 */
function groupIntoBins(list, bin) {
  if (bin === 1) return list.map((b) => ({ from: b.height, to: b.height, list: [b] }));
  /** @type {Map<number, store.Block[]>} */
  const bins = new Map();
  for (const b of list) {
    const n = Math.floor((b.height - 1) / bin);
    const one = bins.get(n);
    if (one) one.push(b); else bins.set(n, [b]);
  }
  return [...bins].map(([, own]) => ({ from: own[0].height, to: own[own.length - 1].height, list: own }));
}

/**
 * formatBinRange returns the least and the greatest of a bin, or the one.
 * @param {Bin} r
 * @param {(b: store.Block) => number} of
 */
function formatBinRange(r, of) {
  if (r.list.length === 1) return formatCount(of(r.list[0]));
  const [least, most] = [Math.min(...r.list.map(of)), Math.max(...r.list.map(of))];
  return least === most ? formatCompact(least) : `${formatCompact(least)}–${formatCompact(most)}`;
}

/**
 * timesBetween are in ms; the first is 0.
 * @param {store.Block[]} list
 */
function timesBetween(list) { return list.map((b, i) => (i ? b.at - list[i - 1].at : 0)); }

/** makeStrip shows cycles as bars, transactions as dots, and the time between blocks as a line. */
function makeStrip() {
  return makeChart({
    title: `the last ${STRIP_BLOCKS} blocks`, height: 120,
    keys: (/** @type {{list: store.Block[], sel: number}} */ d) => [['hue1', 'cycles'], ['hue2', 'of them by timers'], ['text', 'has transactions'], ['hue5', `time between blocks, at most ${formatDuration(Math.max(0, ...timesBetween(d.list).slice(1)))}`]],
    words: (/** @type {{list: store.Block[], sel: number}} */ d) => `cycles of ${d.list.length} blocks, at most ${Math.max(0, ...d.list.map((b) => b.cycles))}`,
    table: (d) => ({ head: ['height', 'cycles', 'of timers', 'transactions', 'time'], rows: d.list.map((b) => [formatCount(b.height), formatCount(b.cycles), formatCount(b.lane), b.txs, formatTime(b.at)]) }),
    at(x, _y, w, _h, d) {
      const each = w / STRIP_BLOCKS;
      const b = d.list[Math.floor((x - (w - d.list.length * each)) / each)];
      return b ? { text: `block ${formatCount(b.height)} of ${b.proposer}: ${formatCount(b.cycles)} cycles, ${b.txs} transactions, ${b.fired} timers fired`, href: route.thingHref(`block:${b.height}`) } : null;
    },
    draw(ctx, w, hgt, d, ink) {
      const each = w / STRIP_BLOCKS;
      const begin = w - d.list.length * each;
      const range = findRange(d.list.map((b) => b.cycles), 0);
      const y = makeScale(range, [hgt - 2, 14]);
      drawAxis(ctx, range, y, w, ink);
      d.list.forEach((b, i) => {
        const x = begin + i * each;
        ctx.fillStyle = b.height === d.sel ? ink.warn : ink.hues[0];
        ctx.fillRect(x, y(b.cycles), Math.max(1, each - 1), hgt - 2 - y(b.cycles));
        if (b.lane) {
          ctx.fillStyle = ink.hues[1];
          ctx.fillRect(x, y(b.lane), Math.max(1, each - 1), hgt - 2 - y(b.lane));
        }
        if (b.txs) {
          ctx.fillStyle = ink.text;
          ctx.fillRect(x, 6, Math.max(1, each - 1), 3);
        }
      });
      const gaps = timesBetween(d.list);
      const t = makeScale(findRange(gaps.slice(1), 0), [hgt - 4, 16]);
      ctx.strokeStyle = ink.hues[4];
      ctx.lineWidth = 1.2;
      ctx.beginPath();
      gaps.forEach((gap, i) => { if (i) ctx.lineTo(begin + (i + 0.5) * each, t(gap)); else ctx.moveTo(begin + each, t(gaps[1] || 0)); });
      ctx.stroke();
    },
  });
}

// @ts-check
// The time bar: the latest blocks, failed views among them, and the moment that is looked at.
import { count } from './format.js';
import { attr, h, show, write } from './kit.js';
import { canvas, edges } from './chart.js';
import * as route from './route.js';
import * as store from './store.js';

const SHOWN = 240;

/** timeBar shows where in time the page is. */
export function timeBar() {
  const chart = canvas({
    title: 'latest blocks', height: 34, draw, words: (d) => `the latest ${d.rows.length} blocks; ${d.failed.size} of them followed a failed view`,
    table: (d) => ({ head: ['height', 'view', 'transactions', 'cycles'], rows: d.rows.map((b) => [b.height, b.view, b.txs, b.cycles]) }),
    at: (x, _y, w, _h, d) => {
      const b = d.rows[Math.floor((x - (w - d.rows.length * step(w))) / step(w))];
      return b ? { text: `block ${count(b.height)}, ${b.txs} transactions`, href: route.changed({ at: `h${b.height}` }) } : null;
    },
  });
  const where = h('span', { class: 'where' });
  const live = h('button', { type: 'button', hidden: true, title: 'follow the latest block (l)', onclick: () => route.set({ at: '' }) }, 'follow');
  const el = h('div', { class: 'timebar' }, where, chart.el, live);
  return {
    el,
    /** @param {route.Route} r */
    draw(r) {
      const to = r.at ?? store.head();
      store.fill('blocks', SHOWN, Math.min(to, store.head()));
      const rows = store.blocks.last(SHOWN, Math.min(to, store.head()));
      const failed = new Set();
      for (const b of rows) {
        const before = store.blocks.get(b.height - 1);
        if (before && b.view > before.view + 1 && !b.skipped) failed.add(b.height);
      }
      chart.set({ rows, failed, at: r.at });
      write(where, r.at === null ? store.now ? 'live' : '' : `at ${count(r.at)}`);
      attr(where, 'data-tone', r.at === null ? 'good' : 'warn');
      show(live, r.at !== null);
    },
  };
}

/** @param {number} w */
function step(w) { return Math.max(2, w / SHOWN); }

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} w
 * @param {number} hgt
 * @param {{rows: store.Block[], failed: Set<number>, at: number|null}} d
 * @param {import('./chart.js').Inks} ink
 */
function draw(ctx, w, hgt, d, ink) {
  const each = step(w);
  const most = edges(d.rows.map((b) => b.cycles), 0)[1];
  const begin = w - d.rows.length * each;
  ctx.fillStyle = ink.line;
  ctx.fillRect(0, hgt - 1, w, 1);
  d.rows.forEach((b, i) => {
    const x = begin + i * each;
    const tall = 3 + (b.cycles / most) * (hgt - 12);
    ctx.fillStyle = b.txs || b.fired ? ink.accent : ink.dim;
    ctx.fillRect(x, hgt - tall, Math.max(1, each - 1), tall);
    if (d.failed.has(b.height)) {
      ctx.fillStyle = ink.bad;
      ctx.fillRect(x, 0, Math.max(2, each - 1), 5);
    }
  });
}

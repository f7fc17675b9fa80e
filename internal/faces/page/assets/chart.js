// @ts-check
// Canvases: each with its words, and with a table of the same content behind it.
import { formatCompact } from './format.js';
import { fillElement, h, showIf, writeText } from './kit.js';

/** @typedef {{text: string, dim: string, line: string, ground: string, hues: string[], good: string, bad: string, warn: string, accent: string}} Inks */

/** @type {Inks|null} */
let themeInks = null;

/**
 * readThemeColours takes those that page.css has for the theme in force.
 * @returns {Inks}
 */
export function readThemeColours() {
  if (themeInks) return themeInks;
  const css = getComputedStyle(document.documentElement);
  const readColour = (/** @type {string} */ name) => css.getPropertyValue('--' + name).trim();
  themeInks = { text: readColour('text'), dim: readColour('dim'), line: readColour('line'), ground: readColour('ground'), good: readColour('good'), bad: readColour('bad'), warn: readColour('warn'), accent: readColour('accent'),
    hues: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => readColour('hue' + n)) };
  return themeInks;
}

/** @type {Set<() => void>} */
const charts = new Set();

export function repaintCharts() {
  themeInks = null;
  for (const draw of charts) draw();
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaintCharts);

/**
 * @template D
 * @typedef {{title: string, height: number, tall?: (data: D) => number, draw: (ctx: CanvasRenderingContext2D, w: number, h: number, data: D, inks: Inks) => void,
 *   table: (data: D) => {head: string[], rows: any[][]}, words: (data: D) => string,
 *   at?: (x: number, y: number, w: number, h: number, data: D) => {text: string, href?: string}|null, note?: string, keys?: (data: D) => [string, string][],
 *   brush?: (from: number, to: number, w: number, data: D) => string|null}} Plan
 */

/**
 * makeChart has a plan's words say what the picture shows, for who does not see it.
 * @template D
 * @param {Plan<D>} plan
 */
export function makeChart(plan) {
  const el = h('canvas', { role: 'img', class: 'plot' });
  const ctx = el.getContext('2d');
  const readout = h('p', { class: 'readout' });
  const keys = h('p', { class: 'keys' });
  const table = h('div', { class: 'alt', hidden: true });
  const button = h('button', { type: 'button', class: 'plain small tabled', 'aria-expanded': 'false', title: 'the same as a table (t)' }, 'as a table');
  const figure = h('figure', { class: 'chart' }, h('figcaption', null, h('span', null, plan.title), button), el, plan.keys ? keys : null, plan.note ? h('p', { class: 'note' }, plan.note) : null, plan.at ? readout : null, table);
  /** @type {D|undefined} */
  let data;
  let width = 0;
  let height = plan.height;
  let isScheduled = false;
  /** @type {{from: number, to: number}|null} what a pointer is drawn over */
  let drag = null;
  let isBrush = false;

  function scheduleDraw() {
    if (isScheduled || !width || data === undefined || !el.isConnected) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      const scale = Math.min(3, devicePixelRatio || 1);
      if (el.width !== Math.round(width * scale) || el.height !== Math.round(height * scale)) {
        el.width = Math.round(width * scale);
        el.height = Math.round(height * scale);
      }
      ctx.setTransform(scale, 0, 0, scale, 0, 0);
      ctx.clearRect(0, 0, width, height);
      ctx.font = '11px ' + FONT;
      plan.draw(ctx, width, height, /** @type {D} */ (data), readThemeColours());
      if (drag && isBrush) {
        ctx.globalAlpha = 0.3;
        ctx.fillStyle = readThemeColours().accent;
        ctx.fillRect(Math.min(drag.from, drag.to), 0, Math.abs(drag.to - drag.from), height);
        ctx.globalAlpha = 1;
      }
    });
  }
  new ResizeObserver(() => {
    const box = el.getBoundingClientRect();
    if (box.width !== width || box.height !== height) {
      width = box.width;
      height = box.height || plan.height;
      scheduleDraw();
    }
  }).observe(el);
  el.style.height = plan.height + 'px';
  charts.add(scheduleDraw);

  function fillTable() {
    if (table.hidden || data === undefined) return;
    const { head, rows } = plan.table(data);
    fillElement(table, h('div', { class: 'scroll', tabindex: '0' }, h('table', null, h('caption', null, plan.title + (rows.length > 200 ? `: the latest 200 of ${rows.length} rows` : '')), h('thead', null, h('tr', null, head.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', null, rows.slice(-200).map((row) => h('tr', null, row.map((cell) => h('td', null, cell))))))));
  }
  button.addEventListener('click', () => {
    showIf(table, table.hidden);
    showIf(el, table.hidden);
    showIf(readout, table.hidden);
    button.setAttribute('aria-expanded', String(!table.hidden));
    writeText(button, table.hidden ? 'as a table' : 'as a picture');
    fillTable();
    scheduleDraw();
  });
  if (plan.at) {
    const findHit = (/** @type {any} */ e) => {
      const box = el.getBoundingClientRect();
      return data === undefined ? null : /** @type {any} */ (plan).at(e.clientX - box.left, e.clientY - box.top, width, height, data);
    };
    el.addEventListener('pointermove', (/** @type {any} */ e) => {
      const found = findHit(e);
      writeText(readout, found ? found.text : '');
      el.classList.toggle('live', Boolean(found && found.href));
    });
    el.addEventListener('pointerleave', () => writeText(readout, ''));
    el.addEventListener('click', (/** @type {any} */ e) => {
      const found = findHit(e);
      if (found && found.href && !isBrush) location.hash = found.href;
    });
  }
  if (plan.brush) {
    const x = (/** @type {any} */ e) => Math.min(width, Math.max(0, e.clientX - el.getBoundingClientRect().left));
    el.classList.add('brush');
    el.addEventListener('pointerdown', (/** @type {any} */ e) => {
      if (e.button !== 0) return;
      drag = { from: x(e), to: x(e) };
      isBrush = false;
      el.setPointerCapture(e.pointerId);
    });
    el.addEventListener('pointermove', (/** @type {any} */ e) => {
      if (!drag) return;
      drag.to = x(e);
      isBrush = isBrush || Math.abs(drag.to - drag.from) > 5;
      scheduleDraw();
    });
    el.addEventListener('pointercancel', () => { drag = null; scheduleDraw(); });
    el.addEventListener('pointerup', () => {
      const done = drag;
      drag = null;
      if (!done || !isBrush || data === undefined) return;
      const to = /** @type {any} */ (plan).brush(Math.min(done.from, done.to), Math.max(done.from, done.to), width, data);
      if (to) location.hash = to;
      scheduleDraw();
    });
  }
  let lastKeys = '';
  /** @param {[string, string][]} list */
  function fillKeys(list) {
    const next = JSON.stringify(list);
    if (next === lastKeys) return;
    lastKeys = next;
    fillElement(keys, list.map(([colour, text]) => h('span', null, h('i', { 'data-ink': colour }), text)));
  }
  return {
    el: figure,
    /** @param {D} next */
    set(next) {
      data = next;
      const tall = plan.tall?.(next);
      if (tall && el.style.height !== tall + 'px') el.style.height = tall + 'px';
      const text = plan.words(next);
      if (el.getAttribute('aria-label') !== text) el.setAttribute('aria-label', text);
      if (plan.keys) fillKeys(plan.keys(next));
      fillTable();
      scheduleDraw();
    },
  };
}

export const FONT = 'ui-sans-serif, system-ui, sans-serif';

/**
 * findRange returns the least and the greatest of numbers; 0 and 1 where there are none.
 * @param {number[]} list
 * @param {number} [from]
 * @returns {[number, number]}
 */
export function findRange(list, from) {
  let least = from ?? Infinity;
  let most = from ?? -Infinity;
  for (const n of list) {
    if (n < least) least = n;
    if (n > most) most = n;
  }
  if (!Number.isFinite(least)) return [0, 1];
  return least === most ? [least - (least ? 1 : 0), most + 1] : [least, most];
}

/**
 * makeScale maps a range onto pixels.
 * @param {[number, number]} from
 * @param {[number, number]} to
 */
export function makeScale([a, b], [p, q]) { return (/** @type {number} */ n) => p + (n - a) / (b - a) * (q - p); }

/**
 * drawAxis draws a few lines with their numbers, on the left.
 * @param {CanvasRenderingContext2D} ctx
 * @param {[number, number]} range
 * @param {(n: number) => number} y
 * @param {number} w
 * @param {Inks} ink
 */
export function drawAxis(ctx, range, y, w, ink) {
  ctx.strokeStyle = ink.line;
  ctx.fillStyle = ink.dim;
  ctx.lineWidth = 1;
  ctx.textBaseline = 'bottom';
  const middle = (range[0] + range[1]) / 2;
  // half a block is none
  for (const n of range[1] - range[0] > 1 || range[0] % 1 ? [range[0], middle, range[1]] : range) {
    const at = Math.round(y(n)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(0, at);
    ctx.lineTo(w, at);
    ctx.stroke();
    ctx.textBaseline = at < 14 ? 'top' : 'bottom';
    ctx.fillText(formatCompact(n), 2, at < 14 ? at + 1 : at - 1);
  }
}

// @ts-check
// Space-time: a lane for each validator, a band for each of the last views. A view that went as usual is folded. One that did not is open: who
// voted how and, in a held run, the frames between its validators, those that were lost in red.
import { get } from './api.js';
import { canvas } from './chart.js';
import { faultWords } from './faults.js';
import { count } from './format.js';
import { faultsWithin } from './moment.js';
import { poll } from './poll.js';
import { selected } from './route.js';
import * as store from './store.js';
import { voteOf, voteWord } from './things/validator.js';

const [VIEWS, LEFT, OPEN] = [48, 44, 10];

/**
 * @typedef {{v: store.View, end: number, x: number, w: number}} Band
 * @typedef {{names: string[], views: store.View[], faults: any[], frames: any[], bands: Band[], ends: {x: number, y: number, f: any}[]}} Data
 */

/** @param {store.View} v */
const isUsual = (v) => v.outcome === 'final' && !v.gaveUp.length;

/**
 * bandsOf gives each view its place.
 * @param {store.View[]} views
 * @param {number} w
 */
function bandsOf(views, w) {
  const parts = views.map((v) => (isUsual(v) ? 1 : OPEN));
  const unit = Math.min(24, (w - LEFT - 4) / parts.reduce((a, b) => a + b, 1));
  let x = LEFT;
  return views.map((v, i) => {
    const one = { v, end: v.took === null ? views[i + 1]?.began ?? v.began + 1000 : v.began + v.took / 1000, x, w: parts[i] * unit };
    x += one.w;
    return one;
  });
}

/**
 * place is where a time in ms is.
 * @param {Band[]} bands
 * @param {number} time
 */
function place(bands, time) {
  const b = bands.find((one) => time < one.end) || bands[bands.length - 1];
  return b.x + b.w * Math.min(1, Math.max(0, (time - b.v.began) / (b.end - b.v.began)));
}

/**
 * touched are the validators whose lanes a fault shades: of a partition the smallest side.
 * @param {any} f
 * @returns {string[]}
 */
function touched({ verb, order: o }) {
  if (verb === 'link') return [o.a, o.b];
  return verb === 'partition' ? o.groups.filter((/** @type {string[]} */ g) => g.length).sort((/** @type {string[]} */ a, /** @type {string[]} */ b) => a.length - b.length)[0] : [o.node];
}

/** @param {any} f */
function frameWords(f) { return `${f.what} ${f.vote || ''} of ${f.from} to ${f.to}, ${count(f.size)} bytes: ${f.why}${f.by ? `, ${f.by}` : ''}`; }

/** lanes is the picture. */
export function lanes() {
  const tall = (/** @type {number} */ hgt, /** @type {Data} */ d) => (hgt - 18) / d.names.length;
  const chart = canvas(/** @type {import('./chart.js').Plan<Data>} */ ({
    title: `the last ${VIEWS} views; those that went as usual are folded`, height: 240, tall: (d) => Math.min(400, Math.max(80, d.names.length * 24 + 18)),
    note: 'each view in its leader\'s colour; yellow: a fault; ✕: a frame that was lost, in a held run',
    words: (d) => `${d.views.filter((v) => !isUsual(v)).length} of ${d.views.length} views did not go as usual`,
    table: (d) => ({ head: ['view', 'what happened'], rows: [...d.views.map((v) => [v.view, v.text || v.outcome]), ...d.faults.map((f) => ['', faultWords(f)]), ...d.frames.filter((f) => f.why).map((f) => [f.view, frameWords(f)])] }),
    at(x, y, _w, hgt, d) {
      const near = d.ends.find((e) => Math.hypot(x - e.x, y - e.y) < 8);
      const b = d.bands.find((one) => x >= one.x && x < one.x + one.w);
      const name = d.names[Math.floor(y / tall(hgt, d))];
      return b ? { text: `view ${count(b.v.view)}, ${near ? frameWords(near.f) : name && !isUsual(b.v) ? `${name}: ${voteWord(b.v, name)}` : b.v.text || b.v.outcome}`, href: selected(`view:${b.v.view}`) } : null;
    },
    draw(ctx, w, hgt, d, ink) {
      d.bands = bandsOf(d.views, w);
      d.ends = [];
      const hh = tall(hgt, d);
      const y = (/** @type {string} */ name) => (d.names.indexOf(name) + 0.5) * hh;
      ctx.textBaseline = 'middle';
      for (const { v, x, w: wide } of d.bands) {
        ctx.globalAlpha = isUsual(v) ? 0.3 : 0.12;
        ctx.fillStyle = ink.hues[Math.max(0, d.names.indexOf(v.leader)) % 8];
        ctx.fillRect(x, 0, wide - 1, hgt - 18);
        ctx.globalAlpha = 1;
        if (isUsual(v)) continue;
        for (const name of d.names) {
          const vote = voteOf(v, name);
          ctx.fillStyle = vote === 'silent' ? ink.line : vote === 'nullify' ? ink.bad : vote === 'final' ? ink.good : ink.accent;
          ctx.fillRect(x + 1, y(name) - 1, wide - 3, Math.min(3, hh));
        }
        ctx.fillStyle = ink.dim;
        ctx.fillText(count(v.view), x, hgt - 8);
      }
      ctx.fillStyle = ink.warn;
      ctx.globalAlpha = 0.25;
      for (const f of d.faults) {
        const from = place(d.bands, f.began_ms);
        for (const name of touched(f)) if (d.names.includes(name)) ctx.fillRect(from, y(name) - hh / 2, Math.max(2, place(d.bands, f.ended_ms ?? Infinity) - from), hh);
      }
      ctx.globalAlpha = 1;
      for (const f of d.frames) {
        const lost = f.arrives_ms === null;
        const from = place(d.bands, f.sent_ms);
        const end = lost ? { x: from + 6, y: (y(f.from) + y(f.to)) / 2, f } : { x: place(d.bands, f.arrives_ms), y: y(f.to), f };
        if (f.why) d.ends.push(end);
        ctx.globalAlpha = lost ? 1 : 0.35;
        ctx.strokeStyle = ctx.fillStyle = lost ? ink.bad : f.why ? ink.warn : ink.dim;
        ctx.beginPath();
        ctx.moveTo(from, y(f.from));
        ctx.lineTo(end.x, end.y);
        ctx.stroke();
        if (lost) ctx.fillText('✕', end.x - 3, end.y);
        ctx.globalAlpha = 1;
      }
      ctx.fillStyle = ink.dim;
      const skip = Math.ceil(11 / hh);
      d.names.forEach((name, i) => { if (i % skip === 0) ctx.fillText(name.slice(0, 6), 2, y(name)); });
    },
  }));
  /** @type {store.View[]} */
  let views = [];
  /** @type {any[]} */
  let frames = [];
  const asked = poll({ each: 1000, els: [], of: () => ({ held: store.now?.ready?.held, from: views[0]?.view, to: views[views.length - 1]?.view }), ask: async ({ held, ...q }, signal) => (held ? (await get('/hold/frames', q, signal)).frames : []), take: (list) => { frames = list; }, fail: () => { frames = []; } });
  return {
    el: chart.el,
    /**
     * @param {import('./route.js').Route} r
     * @param {store.View[]} list up to the moment
     */
    draw(r, list) {
      views = list.slice(-VIEWS);
      asked(r);
      const last = views[views.length - 1];
      const open = views.filter((v) => !isUsual(v)).map((v) => v.view);
      chart.set({ names: (store.now?.nodes || []).map((/** @type {any} */ n) => n.name || n.address), views, faults: last && faultsWithin(views[0].began, last.took === null ? Infinity : last.began + last.took / 1000) || [], frames: frames.filter((f) => open.includes(f.view)), bands: [], ends: [] });
    },
  };
}

// @ts-check
// Space-time: a lane for each validator, a band for each of the last views. A view that went as usual is folded. One that did not is open: who
// voted how and, in a held run, the frames between its validators, those that were lost in red. Time in it is squeezed where nothing happens.
// Of many validators, those that fared alike share a lane.
import { get } from './api.js';
import { makeChart } from './chart.js';
import { faultWords } from './faults.js';
import { formatCount, formatDuration } from './format.js';
import { faultsWithin } from './moment.js';
import { makePoll } from './poll.js';
import { thingHref } from './route.js';
import * as store from './store.js';
import { voteOf, describeVote } from './things/validator.js';

const [VIEWS, LEFT, MOST_OWN_LANES] = [48, 56, 16];

/**
 * @typedef {{v: store.View, end: number, x: number, w: number, times: number[]}} Band
 * @typedef {{names: string[], views: store.View[], faults: any[], frames: any[], lanes: string[][], bands: Band[], ends: {x: number, y: number, f: any, n: number}[]}} Data
 */

/** @param {store.View} v */
const isUsual = (v) => v.outcome !== 'nullified' && !v.gaveUp.length;

/**
 * placeBands gives each view its place. Views that are open share what the folded ones leave.
 * @param {Data} d
 * @param {number} w
 */
function placeBands({ views, frames }, w) {
  const folded = views.filter(isUsual).length;
  const open = views.length - folded;
  const narrow = Math.min(14, (w - LEFT) / (folded + 6 * open));
  const wide = Math.min(480, (w - LEFT - folded * narrow) / open);
  let x = LEFT;
  return views.map((v, i) => {
    const one = { v, end: v.took === null ? views[i + 1]?.began ?? Math.max(v.began + 1000, ...frames.map((f) => f.sent_ms)) : v.began + v.took / 1000, x, w: isUsual(v) ? narrow : wide, times: /** @type {number[]} */ ([]) };
    one.times = [...new Set([v.began, one.end, ...frames.flatMap((f) => [f.sent_ms, f.arrives_ms])])].filter((t) => t !== null && t >= v.began && t <= one.end).sort((a, b) => a - b);
    x += one.w;
    return one;
  });
}

/**
 * positionOfTime takes a time in ms. A pause takes the logarithm of its length.
 * @param {Band[]} bands
 * @param {number} time
 */
function positionOfTime(bands, time) {
  const b = bands.find((one) => time < one.end) || bands[bands.length - 1];
  let [at, all] = [0, 0];
  for (let i = 1; i < b.times.length; i++) {
    const [from, to] = [b.times[i - 1], b.times[i]];
    const long = Math.log1p(to - from);
    at += long * Math.min(1, Math.max(0, (time - from) / (to - from)));
    all += long;
  }
  return b.x + (b.w - 2) * at / (all || 1);
}

/**
 * shadedValidators are those whose lanes a fault shades: of a partition the smallest side.
 * @param {any} f
 * @returns {string[]}
 */
function shadedValidators({ verb, order: o }) {
  if (verb === 'link') return [o.a, o.b];
  return verb === 'partition' ? o.groups.filter((/** @type {string[]} */ g) => g.length).sort((/** @type {string[]} */ a, /** @type {string[]} */ b) => a.length - b.length)[0] : [o.node];
}

/**
 * groupLanes makes a lane for each validator or, of many, for those that voted alike in the open views and have the same faults.
 * @param {Data} d
 */
function groupLanes({ names, views, faults }) {
  const lanes = /** @type {{[alike: string]: string[]}} */ ({});
  for (const name of names) (lanes[names.length > MOST_OWN_LANES ? [views.map((v) => isUsual(v) || voteOf(v, name)), faults.map((f) => shadedValidators(f).includes(name))].join() : name] ||= []).push(name);
  return Object.values(lanes);
}

/**
 * @param {any} f
 * @param {number} [n] of such
 */
function frameWords(f, n = 1) { return `${f.what} ${f.vote || ''} of ${f.from} to ${f.to}, ${formatCount(f.size)} bytes: ${f.why}${f.by ? `, ${f.by}` : ''}${n > 1 ? `; ${formatCount(n)} such` : ''}`; }

export function makeSpaceTimeChart() {
  const laneHeight = (/** @type {number} */ hgt, /** @type {Data} */ d) => (hgt - 18) / d.lanes.length;
  const laneOf = (/** @type {Data} */ d, /** @type {string} */ name) => d.lanes.findIndex((l) => l.includes(name));
  const chart = makeChart(/** @type {import('./chart.js').Plan<Data>} */ ({
    title: `the last ${VIEWS} views, each in its leader\'s colour; those that went as usual are folded`, height: 240, tall: (d) => Math.min(400, Math.max(120, d.lanes.length * 26 + 18)),
    keys: () => [['good', 'voted to finalize'], ['accent', 'to notarize only'], ['bad', 'gave the view up'], ['dim', 'no vote seen'], ['warn', 'a fault; ✕: a frame that was lost, in a held run']],
    words: (d) => `${d.views.filter((v) => !isUsual(v)).length} of ${d.views.length} views did not go as usual`,
    table: (d) => ({ head: ['view', 'what happened'], rows: [...d.views.map((v) => [v.view, v.text || v.outcome]), ...d.faults.map((f) => ['', faultWords(f)]), ...d.frames.filter((f) => f.why).map((f) => [f.view, frameWords(f)])] }),
    at(x, y, _w, hgt, d) {
      const near = d.ends.find((e) => Math.hypot(x - e.x, y - e.y) < 8);
      const b = d.bands.find((one) => x >= one.x && x < one.x + one.w);
      const lane = d.lanes[Math.floor(y / laneHeight(hgt, d))];
      return b ? { text: `view ${formatCount(b.v.view)}, ${near ? frameWords(near.f, near.n) : lane && !isUsual(b.v) ? `${lane.join(' ')}: ${describeVote(b.v, lane[0])}` : b.v.text || b.v.outcome}`, href: thingHref(`view:${b.v.view}`) } : null;
    },
    draw(ctx, w, hgt, d, ink) {
      d.bands = placeBands(d, w);
      d.ends = [];
      const hh = laneHeight(hgt, d);
      const y = (/** @type {number} */ lane) => (lane + 0.5) * hh;
      ctx.textBaseline = 'middle';
      for (const { v, x, w: wide } of d.bands) {
        ctx.globalAlpha = isUsual(v) ? 0.3 : 0.12;
        ctx.fillStyle = ink.hues[Math.max(0, d.names.indexOf(v.leader)) % 8];
        ctx.fillRect(x, 0, wide - 1, hgt - 18);
      }
      ctx.fillStyle = ink.warn;
      ctx.globalAlpha = 0.25;
      for (const f of d.faults) {
        const from = positionOfTime(d.bands, f.began_ms);
        for (const lane of new Set(shadedValidators(f).map((name) => laneOf(d, name)))) ctx.fillRect(from, y(lane) - hh / 2, Math.max(2, positionOfTime(d.bands, f.ended_ms ?? Infinity) - from), hh);
      }
      ctx.globalAlpha = 1;
      for (const { v, x, w: wide } of d.bands.filter((b) => !isUsual(b.v))) {
        d.lanes.forEach(([name], lane) => {
          const vote = voteOf(v, name);
          ctx.fillStyle = vote === 'silent' ? ink.dim : vote === 'nullify' ? ink.bad : vote === 'final' ? ink.good : ink.accent;
          ctx.fillRect(x + 1, y(lane) - 1, wide - 3, Math.min(3, hh));
        });
        ctx.fillStyle = ink.dim;
        ctx.fillText(formatCount(v.view) + (wide > 90 && v.took ? ` in ${formatDuration(v.took / 1000)}` : ''), x, hgt - 8);
      }
      const drawn = /** @type {Map<string, {x: number, y: number, f: any, n: number}>} */ (new Map());
      for (const f of d.frames) {
        const lost = f.arrives_ms === null;
        const [from, a, b] = [positionOfTime(d.bands, f.sent_ms), laneOf(d, f.from), laneOf(d, f.to)];
        const end = lost ? { x: from + 8, y: y(a + (b - a) * 0.6), f, n: 1 } : { x: positionOfTime(d.bands, f.arrives_ms), y: y(b), f, n: 1 };
        const key = [a, b, f.what, f.vote, f.why, from | 0, end.x | 0].join();
        const like = drawn.get(key);
        if (like) { like.n++; continue; }
        drawn.set(key, end);
        if (f.why) d.ends.push(end);
        ctx.globalAlpha = lost ? 1 : 0.35;
        ctx.strokeStyle = ctx.fillStyle = lost ? ink.bad : f.why ? ink.warn : ink.dim;
        ctx.beginPath();
        ctx.moveTo(from, y(a));
        ctx.lineTo(end.x, end.y);
        ctx.stroke();
        if (lost) ctx.fillText('✕', end.x - 3, end.y);
        ctx.globalAlpha = 1;
      }
      ctx.fillStyle = ink.dim;
      const skip = Math.ceil(11 / hh);
      d.lanes.forEach(([name, ...more], i) => { if (i % skip === 0) ctx.fillText(name.slice(0, 6) + (more.length ? ` +${more.length}` : ''), 2, y(i)); });
    },
  }));
  /** @type {store.View[]} */
  let views = [];
  /** @type {any[]} */
  let frames = [];
  const pollFrames = makePoll({ each: 1000, els: [chart.el.querySelector('.readout')], of: () => (store.latestBeat?.ready?.held ? { from: views[0]?.view, to: views[views.length - 1]?.view } : {}), ask: async (q, signal) => (q.to ? (await get('/hold/frames', q, signal)).frames : []), take: (list) => { frames = list; store.drawSoon(); }, fail: () => { frames = []; } });
  return {
    el: chart.el,
    /**
     * @param {import('./route.js').Route} r
     * @param {store.View[]} list up to the moment
     */
    draw(r, list) {
      views = list.slice(-VIEWS);
      pollFrames(r);
      const last = views[views.length - 1];
      // of a moment: that of its block
      const end = last?.took ? last.began + last.took / 1000 : Infinity;
      const open = views.filter((v) => !isUsual(v)).map((v) => v.view);
      /** @type {Data} */
      const d = { names: (store.latestBeat?.nodes || []).map((/** @type {any} */ n) => n.name || n.address), views, faults: last && faultsWithin(views[0].began, end) || [], frames: frames.filter((f) => f.sent_ms <= end && open.includes(f.view)), lanes: [], bands: [], ends: [] };
      d.lanes = groupLanes(d);
      chart.set(d);
    },
  };
}

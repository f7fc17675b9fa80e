// @ts-check
// Runners: who was present at which height, how many of its validators saw it, and the list.
import { devnetCommand, get } from '../api.js';
import { hasBit, decodeBitmap, formatCount, formatMoney, formatPlural } from '../format.js';
import { makeEmptyNote, fillElement, h, makeRefusalNote, showIf, makeCommandLine, writeText } from '../kit.js';
import { makeChart } from '../chart.js';
import { isPast, momentOf } from '../moment.js';
import { makePoll } from '../poll.js';
import { makeOlderLink, makeRowTable, wantedRows } from '../rows.js';
import * as route from '../route.js';
import * as store from '../store.js';

export const runners = { id: 'runners', title: 'Runners', key: 'r', make: makeRunnersView };

const ROWS = 60;
const HEIGHTS = 96;

/**
 * countConnections counts those with the runner's subset. A validator that answers for itself alone knows of no other.
 * @param {{subset: string[], connected: string[]}} r
 */
function countConnections(r) {
  const elsewhere = new Set((store.latestBeat?.nodes || []).filter((/** @type {any} */ n) => n.elsewhere).map((/** @type {any} */ n) => n.address));
  const known = r.subset.filter((a) => !elsewhere.has(a));
  return `${known.filter((a) => r.connected.includes(a)).length} of ${known.length}${known.length < r.subset.length ? ' known' : ''}`;
}

function makeRunnersView() {
  const map = makePresenceMap();
  const sum = h('p', { class: 'sentence' });
  const none = h('div');
  const table = makeRowTable({
    label: 'runners', size: ROWS, href: (r) => route.thingHref(`runner:${r.name || r.address}`), sel: (r) => `runner:${r.name || r.address}`, columns: [
      { name: 'runner', text: (r) => r.name || r.address, main: true },
      { name: 'health', text: (r) => r.health, main: true, tone: (r) => (r.health === 'Healthy' ? 'good' : 'bad') },
      { name: 'present', text: (r) => (r.present ? 'yes' : 'no'), main: true, tone: (r) => (r.present ? '' : 'bad') },
      { name: 'connected', kind: 'num', text: (r) => (r.connected ? countConnections(r) : '') },
      { name: 'jobs', kind: 'num', text: (r) => `${r.active_jobs} of ${r.max_concurrent_jobs}` },
      { name: 'accepting', text: (r) => (r.accepting ? 'yes' : 'no') },
      { name: 'reputation', kind: 'num', text: (r) => r.reputation },
      { name: 'stake', kind: 'num', text: (r) => formatMoney(r.stake) },
      { name: 'offers', text: (r) => r.capabilities.join(', ') },
    ] });
  const older = makeOlderLink('runners', ROWS);
  const el = h('div', { class: 'cards' }, h('section', { class: 'card whole' }, h('h2', null, 'Presence'), sum, map.el), h('section', { class: 'card whole' }, h('h2', null, 'Runners'), table.el, older.el, none));
  /** @type {any[]} */
  let knownRunners = [];
  /** @type {any} */
  let latest = null;
  function drawMap() {
    if (!latest) return;
    map.set({ ...latest, known: knownRunners });
    const last = latest.p?.heights[latest.p.heights.length - 1];
    writeText(sum, last ? `${formatCount(last.count)} of ${formatPlural(knownRunners.filter((k) => k.health !== 'Deregistered').length, 'runner')} present at height ${formatCount(last.height)}: a runner counts where ${formatPlural(last.threshold, 'vote')} show it (rule ${last.rule}).` : 'No height has a presence yet.');
  }
  const pollList = makePoll({ each: 1000, els: [table.el, older.el, none], of: (r) => ({ limit: 1000, at: momentOf(r) }), ask: (q, signal) => get('/runners', q, signal), take: (/** @type {any[]} */ all, r) => {
    const rows = wantedRows(r.params, ROWS);
    table.set(all.slice(0, rows), r.sel);
    older.set(rows, all.length > rows || rows === 1000 && all.length === rows);
    knownRunners = all;
    drawMap();
    showIf(none, !all.length);
    if (!all.length) fillElement(none, isPast(r) ? makeEmptyNote('No runner had registered then.') : makeEmptyNote('This network has no runner. Begin one with some:', 'devnet up --runners 4'), h('p', { class: 'dim' }, 'Or have one join this network:'), makeCommandLine(devnetCommand('runner join')));
  }, fail: (e) => {
    table.set([]);
    older.set(0, false);
    showIf(none, true);
    fillElement(none, makeRefusalNote(e));
  } });
  const pollPresence = makePoll({ each: 1000, els: [sum, map.el], of: ({ at, from }) => ({ at, from }), ask: async ({ at, from }, signal) => {
    // the latest block's presence is in the votes for the next
    const to = Math.min(at ?? Infinity, store.headHeight() - 1);
    return to < 1 ? { heights: [], validators: [], from: 0, to: 0 } : get('/presence', { from: Math.max(1, Math.min(from ?? 1, to), to - HEIGHTS + 1), to }, signal);
  }, take: (p) => {
    latest = { p };
    drawMap();
  }, fail: (e) => {
    latest = { p: null, error: e.message };
    drawMap();
  } });
  return {
    el,
    /** @param {route.Route} r */
    draw(r) {
      pollList(r);
      pollPresence(r);
    },
  };
}

const LEFT = 64;

/** makePresenceMap has runners as rows, by subset; a cell says how many votes show it. */
function makePresenceMap() {
  /** @param {any} d */
  const chooseRows = (d) => d.known.filter((/** @type {any} */ k) => k.health !== 'Deregistered').sort((/** @type {any} */ a, /** @type {any} */ b) => a.subset.join().localeCompare(b.subset.join()) || a.index - b.index).slice(0, 200);
  const rowHeight = (/** @type {number} */ hgt, /** @type {number} */ n) => Math.min(22, (hgt - 20) / Math.max(1, n));
  return makeChart({
    title: `the last ${HEIGHTS} heights: rows are runners, grouped by their validators`, height: 240, tall: (d) => Math.min(240, Math.max(64, chooseRows(d).length * 22 + 22)),
    note: 'the darker, the more votes show it; red: absent; a gap: a height without a block; 200 runners at most',
    words: (d) => (d.p ? `presence of ${chooseRows(d).length} runners at ${d.p.heights.length} heights` : d.error || ''),
    table: (d) => ({ head: ['height', 'present', 'threshold', 'absent'], rows: (d.p?.heights || []).map((/** @type {any} */ x) => {
      const map = decodeBitmap(x.present);
      return [formatCount(x.height), x.count, x.threshold, chooseRows(d).filter((/** @type {any} */ k) => k.index < x.bits && !hasBit(map, k.index)).map((/** @type {any} */ k) => k.name || k.address).join(' ')];
    }) }),
    at(x, y, w, hgt, d) {
      if (!d.p) return null;
      const rows = chooseRows(d);
      const each = (w - LEFT) / HEIGHTS;
      const at = d.p.to - HEIGHTS + 1 + Math.floor((x - LEFT) / each);
      const one = d.p.heights.find((/** @type {any} */ e) => e.height === at);
      const runner = rows[Math.floor((y - 2) / rowHeight(hgt, rows.length))];
      if (!one || !runner) return null;
      const votes = one.votes.filter((/** @type {any} */ v) => hasBit(decodeBitmap(v.bitmap), runner.index)).map((/** @type {any} */ v) => d.p.validators[v.validator]?.name);
      return { text: `${runner.name || runner.address} at ${formatCount(one.height)}: ${hasBit(decodeBitmap(one.present), runner.index) ? 'present' : 'absent'}; shown by ${votes.length ? votes.join(' ') : 'nobody'}`, href: route.thingHref(`runner:${runner.name || runner.address}`) };
    },
    draw(ctx, w, hgt, d, ink) {
      ctx.textBaseline = 'middle';
      ctx.fillStyle = ink.dim;
      if (!d.p || !d.p.heights.length) return void ctx.fillText(d.error || 'No height has a presence yet: votes carry it, from the second block on.', 4, hgt / 2);
      const rows = chooseRows(d);
      const [each, hh] = [(w - LEFT) / HEIGHTS, rowHeight(hgt, rows.length)];
      const skip = Math.ceil(11 / hh);
      rows.forEach((/** @type {any} */ k, /** @type {number} */ row) => {
        ctx.fillStyle = k.present ? ink.text : ink.bad;
        if (row % skip === 0) ctx.fillText((k.name || k.address).slice(0, 9), 2, 2 + row * hh + hh / 2);
      });
      for (const one of d.p.heights) {
        const x = LEFT + (one.height - (d.p.to - HEIGHTS + 1)) * each;
        const map = decodeBitmap(one.present);
        const votes = one.votes.map((/** @type {any} */ v) => decodeBitmap(v.bitmap));
        rows.forEach((/** @type {any} */ k, /** @type {number} */ row) => {
          if (k.index >= one.bits) return;
          const n = votes.filter((/** @type {Uint8Array} */ v) => hasBit(v, k.index)).length;
          const is = hasBit(map, k.index);
          ctx.globalAlpha = is ? 0.25 + 0.6 * Math.min(1, n / Math.max(1, k.subset.length)) : n ? 0.5 : 0.85;
          ctx.fillStyle = is ? ink.good : ink.bad;
          ctx.fillRect(x, 2 + row * hh, Math.max(1, each - 1), Math.max(1, hh - 1));
          ctx.globalAlpha = 1;
        });
      }
      ctx.fillStyle = ink.dim;
      const first = Math.max(1, d.p.to - HEIGHTS + 1);
      ctx.fillText(formatCount(first), LEFT + (first - (d.p.to - HEIGHTS + 1)) * each, hgt - 8);
      const last = formatCount(d.p.to);
      ctx.fillText(last, w - ctx.measureText(last).width - 2, hgt - 8);
      return undefined;
    },
  });
}

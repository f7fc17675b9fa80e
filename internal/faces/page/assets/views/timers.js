// @ts-check
// Timers: the lane's last blocks, the calendar of what is to come, and the list.
import { command, get } from '../api.js';
import { compact, count, plural } from '../format.js';
import { attr, empty, fill, h, refused, show, write } from '../kit.js';
import { axis, canvas, edges, scale } from '../chart.js';
import { name } from '../names.js';
import { poll } from '../poll.js';
import { olderLink, pool, wanted } from '../rows.js';
import * as route from '../route.js';
import * as store from '../store.js';

export const timers = { id: 'timers', title: 'Timers', key: 't', make };

const ROWS = 40;
const LAST = 120;
const STATES = ['', 'pending', 'fired', 'expired', 'insufficient_funds', 'cancelled'];

function make() {
  const lane = laneChart();
  const calendar = calendarChart();
  const sum = h('p', { class: 'sentence' });
  const why = h('p', { class: 'dim small' });
  const states = h('span', { class: 'choices', role: 'group', 'aria-label': 'states' }, STATES.map((s) => h('a', { href: '#', 'data-state': s }, s ? s.replaceAll('_', ' ') : 'all')));
  const none = h('div');
  const table = pool({
    label: 'timers', size: ROWS, href: (t) => route.selected(`timer:${t.id}`), sel: (t) => `timer:${t.id}`, columns: [
      { name: 'due', text: (t) => count(t.height), main: true },
      { name: 'actor', text: (t) => name(t.actor), main: true },
      { name: 'handler', text: (t) => t.handler },
      { name: 'status', text: (t) => t.status.replaceAll('_', ' '), main: true, tone: (t) => (t.status === 'fired' ? 'good' : t.status === 'pending' ? (t.deferrals ? 'warn' : '') : 'bad') },
      { name: 'tier', text: (t) => t.tier || '' },
      { name: 'ended', kind: 'num', text: (t) => (t.ended_at === null ? '' : count(t.ended_at)) },
      { name: 'late', kind: 'num', text: (t) => (t.ended_at !== null && t.ended_at > t.height ? t.ended_at - t.height : t.ended_at === null && store.head() > t.height ? store.head() - t.height : '') },
      { name: 'deferred', kind: 'num', text: (t) => t.deferrals || '' },
      { name: 'why', text: (t) => t.reason.replaceAll('_', ' ') },
    ] });
  const older = olderLink('timers', ROWS);
  const el = h('div', { class: 'cards' },
    h('section', { class: 'card whole' }, h('h2', null, 'The lane'), sum, lane.el, why),
    h('section', { class: 'card whole' }, h('h2', null, 'The calendar'), calendar.el),
    h('section', { class: 'card whole' }, h('div', { class: 'bar' }, h('h2', null, 'Timers'), states), table.el, older.el, none));

  const rows = poll({ each: 1000, els: [table.el, older.el, none], of: ({ at, params }) => ({ limit: Math.min(wanted(params, ROWS) + 1, 1000), order: params.status === 'pending' ? 'oldest' : 'newest', status: STATES.includes(params.status || '') ? params.status : '', actor: params.actor, due_by: at }),
    ask: (q, signal) => get('/timers', q, signal), take: (list, r) => {
    const many = wanted(r.params, ROWS);
    table.set(list.slice(0, many), r.sel);
    older.set(many, list.length > many || many === 1000 && list.length === many);
    show(none, !list.length);
    if (!list.length) {
      fill(none, r.params.status || r.params.actor ? empty(`No timer is ${(r.params.status || 'there').replaceAll('_', ' ')}${r.params.actor ? ` of ${name(r.params.actor)}` : ''}.`)
        : empty('No timer was scheduled yet. An actor that schedules itself is an example:', command('actor deploy fixtures/actors/heartbeat.py --fund 10'), h('p', { class: 'dim' }, 'Then call its handler:'), h('code', null, command('actor call heartbeat start'))));
    }
  }, fail: (e) => {
    table.set([]);
    older.set(0, false);
    show(none, true);
    fill(none, refused(e));
  } });
  const recent = poll({ each: 500, els: [sum, lane.el, why], of: ({ at, from }) => ({ at, from }), ask: ({ at, from }, signal) => (at === null || from === null && at >= store.head() ? get('/timers/lane', { last: LAST }, signal) : lanesBefore(at, from)), take: (list) => {
    lane.set(list);
    const last = list[list.length - 1];
    const sums = list.reduce((/** @type {any} */ s, /** @type {any} */ b) => ({ fired: s.fired + b.fired, deferred: s.deferred + b.deferred, ended: s.ended + b.expired + b.insufficient }), { fired: 0, deferred: 0, ended: 0 });
    write(sum, last ? `Policy ${last.policy}. In the last ${plural(list.length, 'block')} ${plural(sums.fired, 'timer')} fired, ${count(sums.deferred)} were left for later, ${count(sums.ended)} ended unfired. The lane's base fee is ${count(last.basefee_lane_timer)} wei a cycle.` : 'No block is final yet.');
    const reasons = /** @type {{[r: string]: number}} */ ({});
    for (const b of list) for (const d of b.deferred_for) reasons[d.reason] = (reasons[d.reason] || 0) + d.count;
    write(why, Object.entries(reasons).map(([reason, n]) => `left for later ${count(n)} times: ${reason.replaceAll('_', ' ')}`).join('; '));
  }, fail: (e) => {
    lane.set([]);
    write(sum, e.message);
    write(why, e.hint || '');
  } });
  const due = poll({ each: 1000, els: [calendar.el], of: () => ({ bins: 64 }), ask: (q, signal) => get('/timers/calendar', q, signal), take: (c) => calendar.set(c), fail: (e) => calendar.set({ error: e.message }) });
  return {
    el,
    /** @param {route.Route} r */
    draw(r) {
      for (const a of states.children) {
        const s = a.getAttribute('data-state') || '';
        attr(a, 'href', route.changed({ status: s }));
        if (s === (r.params.status || '')) attr(a, 'aria-current', 'true'); else a.removeAttribute('aria-current');
      }
      rows(r);
      recent(r);
      due(r);
    },
  };
}

/**
 * lanesBefore are the lane's blocks up to a moment, of what the blocks' columns tell.
 * @param {number} at
 * @param {number|null} from
 */
async function lanesBefore(at, from) {
  await store.filled('blocks', LAST, at);
  return store.within(store.blocks.last(LAST, at), from, (b) => b.height).map((b) => ({ height: b.height, policy: 'the lane', budget: b.budget, timer_cycles_used: b.lane, gc_cycles_used: 0, fired: b.fired, deferred: b.deferred, expired: b.ended, insufficient: 0,
    basefee_lane_timer: b.feeLane, basefee_cycle: b.feeCycle, deferred_for: [] }));
}

/**
 * feesOf are the lowest and the highest base fee of the lane.
 * @param {any[]} lanes
 */
function feesOf(lanes) {
  const fees = lanes.map((b) => Number(b.basefee_lane_timer));
  return fees.length ? `, ${compact(Math.min(...fees))} to ${compact(Math.max(...fees))} wei a cycle` : '';
}

function laneChart() {
  return canvas({
    title: 'the timers of each block, use of the budget, base fee of the lane', height: 170,
    words: (/** @type {any[]} */ d) => `the timer lane of ${d.length} blocks: at most ${Math.max(0, ...d.map((b) => b.fired))} fired and ${Math.max(0, ...d.map((b) => b.deferred))} left for later in one`,
    keys: (/** @type {any[]} */ d) => [['good', 'fired'], ['warn', 'left for later'], ['bad', 'ended unfired'], ['hue1', 'use of the budget, below'], ['hue5', `base fee of the lane${feesOf(d)}`]],
    table: (d) => ({ head: ['block', 'fired', 'left for later', 'ended', 'cycles', 'budget', 'base fee of the lane'], rows: d.map((b) => [count(b.height), b.fired, b.deferred, b.expired + b.insufficient, count(b.timer_cycles_used), count(b.budget), count(b.basefee_lane_timer)]) }),
    at(x, _y, w, _h, d) {
      const b = d[Math.floor((x - (w - d.length * (w / LAST))) / (w / LAST))];
      return b ? { text: `block ${count(b.height)}: ${b.fired} fired, ${b.deferred} left for later, ${b.expired + b.insufficient} ended; ${compact(b.timer_cycles_used)} of ${compact(b.budget)} cycles; ${count(b.basefee_lane_timer)} wei`, href: route.selected(`block:${b.height}`) } : null;
    },
    draw(ctx, w, hgt, d, ink) {
      const each = w / LAST;
      const begin = w - d.length * each;
      const floor = hgt - 28;
      const range = edges(d.map((b) => b.fired + b.deferred + b.expired + b.insufficient), 0);
      const y = scale(range, [floor, 14]);
      axis(ctx, range, y, w, ink);
      d.forEach((b, i) => {
        const x = begin + i * each;
        let n = 0;
        for (const [part, colour] of /** @type {[number, string][]} */ ([[b.fired, ink.good], [b.deferred, ink.warn], [b.expired + b.insufficient, ink.bad]])) {
          if (!part) continue;
          ctx.fillStyle = colour;
          ctx.fillRect(x, y(n + part), Math.max(1, each - 1), y(n) - y(n + part));
          n += part;
        }
        const use = b.budget ? Math.min(1, b.timer_cycles_used / b.budget) : 0;
        ctx.fillStyle = ink.line;
        ctx.fillRect(x, hgt - 22, Math.max(1, each - 1), 20);
        ctx.fillStyle = ink.hues[0];
        ctx.fillRect(x, hgt - 2 - 20 * use, Math.max(1, each - 1), 20 * use);
      });
      const fees = d.map((b) => Number(b.basefee_lane_timer));
      const f = scale(edges(fees), [floor - 4, 18]);
      ctx.strokeStyle = ink.hues[4];
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      fees.forEach((fee, i) => { const x = begin + (i + 0.5) * each; if (i) ctx.lineTo(x, f(fee)); else ctx.moveTo(x, f(fee)); });
      ctx.stroke();
    },
  });
}

const LEFT = 56;

function calendarChart() {
  return canvas({
    title: 'pending timers: tiers by height', height: 108,
    words: (/** @type {any} */ c) => (c.error ? c.error : `${c.pending} timers are pending; ${c.carry} are past their height`),
    table: (c) => (c.error ? { head: ['why'], rows: [[c.error]] } : { head: ['heights', ...c.tiers.map((/** @type {any} */ t) => t.tier)], rows: (c.tiers[0]?.counts || []).map((/** @type {any} */ _n, /** @type {number} */ i) => [`${count(c.from + i * c.width)}–${count(c.from + (i + 1) * c.width - 1)}`, ...c.tiers.map((/** @type {any} */ t) => t.counts[i])]) }),
    at(x, y, w, _h, c) {
      if (c.error) return null;
      const bins = c.tiers[0]?.counts.length || 1;
      const i = Math.floor((x - LEFT) / ((w - LEFT) / bins));
      const tier = c.tiers[Math.floor((y - 4) / 22)];
      if (!tier || i < 0 || i >= bins) return null;
      const [a, b] = [c.from + i * c.width, Math.min(c.to, c.from + (i + 1) * c.width - 1)];
      return { text: `${plural(tier.counts[i], 'timer')} of ${tier.tier} due at ${count(a)} to ${count(b)}`, href: route.changed({ status: 'pending' }) };
    },
    draw(ctx, w, hgt, c, ink) {
      ctx.textBaseline = 'middle';
      ctx.fillStyle = ink.dim;
      if (c.error) return void ctx.fillText(c.error, 4, hgt / 2);
      const bins = c.tiers[0]?.counts.length || 1;
      const each = (w - LEFT) / bins;
      const most = Math.max(1, ...c.tiers.flatMap((/** @type {any} */ t) => t.counts));
      c.tiers.forEach((/** @type {any} */ t, /** @type {number} */ row) => {
        const y = 4 + row * 22;
        ctx.fillStyle = ink.text;
        ctx.fillText(t.tier, 2, y + 10);
        t.counts.forEach((/** @type {number} */ n, /** @type {number} */ i) => {
          ctx.globalAlpha = n ? 0.3 + 0.7 * Math.log(1 + n) / Math.log(1 + most) : 1;
          ctx.fillStyle = n ? ink.accent : ink.line;
          ctx.fillRect(LEFT + i * each, y, Math.max(1, each - 1), 20);
          ctx.globalAlpha = 1;
        });
      });
      ctx.fillStyle = ink.dim;
      ctx.fillText(count(c.from), LEFT, 78);
      const last = count(c.to);
      ctx.fillText(last, w - ctx.measureText(last).width - 2, 78);
      ctx.fillText(`${count(c.pending)} pending${c.carry ? `, ${count(c.carry)} past their height` : ''}${c.arrears ? `, ${count(c.arrears)} could not pay` : ''}${c.whole ? '' : ' (there are more than are counted)'}`, LEFT, 97);
      return undefined;
    },
  });
}

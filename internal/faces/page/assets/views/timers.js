// @ts-check
// Timers: the lane's last blocks, the calendar of what is to come, and the list.
import { devnetCommand, get } from '../api.js';
import { formatCompact, formatCount, formatPlural } from '../format.js';
import { writeAttribute, makeEmptyNote, fillElement, h, makeRefusalNote, showIf, writeText } from '../kit.js';
import { REASONS } from '../words.js';
import { drawAxis, makeChart, findRange, makeScale } from '../chart.js';
import { isPast, momentOf, fetchRows } from '../moment.js';
import { nameOf } from '../names.js';
import { makePoll } from '../poll.js';
import { makeOlderLink, makeRowTable, wantedRows } from '../rows.js';
import * as route from '../route.js';
import * as store from '../store.js';

export const timers = { id: 'timers', title: 'Timers', key: 't', make: makeTimersView };

const ROWS = 40;
const LANE_BLOCKS = 120;
const STATES = ['', 'pending', 'fired', 'expired', 'insufficient_funds', 'cancelled'];

function makeTimersView() {
  const lane = makeLaneChart();
  const calendar = makeCalendarChart();
  const sum = h('p', { class: 'sentence' });
  const why = h('p', { class: 'dim small' });
  const reason = h('a', { href: '#', 'aria-current': 'true', hidden: true });
  const states = h('span', { class: 'choices', role: 'group', 'aria-label': 'states' }, STATES.map((s) => h('a', { href: '#', 'data-state': s }, s ? s.replaceAll('_', ' ') : 'all')));
  const none = h('div');
  const table = makeRowTable({
    label: 'timers', size: ROWS, href: (t) => route.thingHref(`timer:${t.id}`), sel: (t) => `timer:${t.id}`, columns: [
      { name: 'due', text: (t) => formatCount(t.height), main: true },
      { name: 'actor', text: (t) => nameOf(t.actor), main: true },
      { name: 'handler', text: (t) => t.handler },
      { name: 'status', text: (t) => t.status.replaceAll('_', ' '), main: true, tone: (t) => (t.status === 'fired' ? 'good' : t.status === 'pending' ? (t.deferrals ? 'warn' : '') : 'bad') },
      { name: 'tier', text: (t) => t.tier || '' },
      { name: 'ended', kind: 'num', text: (t) => (t.ended_at === null ? '' : formatCount(t.ended_at)) },
      { name: 'late', kind: 'num', text: (t) => (t.ended_at !== null && t.ended_at > t.height ? t.ended_at - t.height : t.ended_at === null && momentHeight() > t.height ? momentHeight() - t.height : '') },
      { name: 'deferred', kind: 'num', text: (t) => t.deferrals || '' },
      { name: 'why', text: (t) => t.reason.replaceAll('_', ' '), title: (t) => REASONS[t.reason] || '' },
    ] });
  const older = makeOlderLink('timers', ROWS);
  const el = h('div', { class: 'cards' },
    h('section', { class: 'card whole' }, h('h2', null, 'The lane'), sum, lane.el, why),
    h('section', { class: 'card whole' }, h('h2', null, 'The calendar'), calendar.el),
    h('section', { class: 'card whole' }, h('div', { class: 'bar' }, h('h2', null, 'Timers'), states, reason), table.el, older.el, none));

  /** @type {number|null} the moment of the rows; null: now */
  let rowsMoment = null;
  const momentHeight = () => rowsMoment ?? store.headHeight();
  const pollRows = makePoll({ each: 1000, els: [table.el, older.el, none], of: (r) => ({ limit: Math.min(wantedRows(r.params, ROWS) + 1, 1000), order: r.params.status === 'pending' ? 'oldest' : 'newest', status: STATES.includes(r.params.status || '') ? r.params.status : '', actor: r.params.actor, why: r.params.why || '', at: momentOf(r), from: r.from }),
    ask: async ({ from, limit, why, ...q }, signal) => (why || from !== null ? fetchRows('/timers', q, (t) => (!why || t.reason === why) && t.height >= (from ?? 0), limit, signal)
      : { list: await get('/timers', { limit, ...q }, signal), cut: false }), take: ({ list, cut }, r) => {
    const many = wantedRows(r.params, ROWS);
    rowsMoment = isPast(r) ? r.at : null;
    table.set(list.slice(0, many), r.sel);
    older.set(many, list.length > many || many === 1000 && list.length === many, cut ? 'only the latest 10,000 were looked at' : '');
    showIf(none, !list.length);
    if (!list.length) {
      fillElement(none, r.params.why ? makeEmptyNote(`No timer waits or ended for the reason ${r.params.why}: ${REASONS[r.params.why] || ''}.`) : isPast(r) ? makeEmptyNote(`No timer was ${(r.params.status || 'due').replaceAll('_', ' ')} at block ${formatCount(/** @type {number} */ (r.at))}.`) : r.params.status || r.params.actor ? makeEmptyNote(`No timer is ${(r.params.status || 'there').replaceAll('_', ' ')}${r.params.actor ? ` of ${nameOf(r.params.actor)}` : ''}.`)
        : makeEmptyNote('No timer was scheduled yet. An actor that schedules itself is an example:', devnetCommand('actor deploy fixtures/actors/heartbeat.py --fund 10'), h('p', { class: 'dim' }, 'Then call its handler:'), h('code', null, devnetCommand('actor call heartbeat start'))));
    }
  }, fail: (e) => {
    table.set([]);
    older.set(0, false);
    showIf(none, true);
    fillElement(none, makeRefusalNote(e));
  } });
  const pollLane = makePoll({ each: 500, els: [sum, lane.el, why], of: (r) => ({ at: momentOf(r), from: r.from }), ask: async ({ at, from }, signal) => store.rowsFromHeight(/** @type {any[]} */ (await get('/timers/lane', { last: LANE_BLOCKS, at }, signal)), from, (b) => b.height), take: (list) => {
    lane.set(list);
    const last = list[list.length - 1];
    const sums = list.reduce((/** @type {any} */ s, /** @type {any} */ b) => ({ fired: s.fired + b.fired, deferred: s.deferred + b.deferred, ended: s.ended + b.expired + b.insufficient }), { fired: 0, deferred: 0, ended: 0 });
    const parts = [[sums.fired, 'fired'], [sums.deferred, sums.deferred === 1 ? 'was left for later' : 'were left for later'], [sums.ended, 'ended unfired']].filter(([n], i) => n || !i).map(([n, what], i) => `${i ? formatCount(n) : formatPlural(Number(n), 'timer')} ${what}`);
    writeText(sum, last ? `Policy ${last.policy}. In ${formatPlural(list.length, 'block')} up to ${formatCount(last.height)}: ${parts.join(', ')}. The lane's base fee was ${formatCount(last.basefee_lane_timer)} wei a cycle.` : 'No block is final yet.');
    const reasons = /** @type {{[r: string]: number}} */ ({});
    for (const b of list) for (const d of b.deferred_for) reasons[d.reason] = (reasons[d.reason] || 0) + d.count;
    writeText(why, Object.entries(reasons).map(([reason, n]) => `left for later ${n === 1 ? 'once' : `${formatCount(n)} times`}: ${REASONS[reason] || reason.replaceAll('_', ' ')} (${reason})`).join('; '));
  }, fail: (e) => {
    lane.set([]);
    writeText(sum, e.message);
    writeText(why, e.hint || '');
  } });
  const pollCalendar = makePoll({ each: 1000, els: [calendar.el], of: (r) => ({ bins: 64, at: momentOf(r) }), ask: (q, signal) => get('/timers/calendar', q, signal), take: (c) => calendar.set(c), fail: (e) => calendar.set({ error: e.message }) });
  return {
    el,
    /** @param {route.Route} r */
    draw(r) {
      for (const a of states.children) {
        const s = a.getAttribute('data-state') || '';
        writeAttribute(a, 'href', route.hrefWith({ status: s }));
        if (s === (r.params.status || '')) writeAttribute(a, 'aria-current', 'true'); else a.removeAttribute('aria-current');
      }
      showIf(reason, Boolean(r.params.why));
      writeText(reason, `${r.params.why || ''} ×`);
      writeAttribute(reason, 'href', route.hrefWith({ why: '' }));
      pollRows(r);
      pollLane(r);
      pollCalendar(r);
    },
  };
}

/**
 * describeFees returns the lowest and the highest base fee of the lane.
 * @param {any[]} lanes
 */
function describeFees(lanes) {
  const fees = lanes.map((b) => Number(b.basefee_lane_timer));
  return fees.length ? `, ${formatCompact(Math.min(...fees))} to ${formatCompact(Math.max(...fees))} wei a cycle` : '';
}

/**
 * formatMostUse returns the greatest part of the budget that a block used.
 * @param {any[]} lanes
 */
function formatMostUse(lanes) {
  const most = 100 * Math.max(0, ...lanes.map((b) => (b.budget ? b.timer_cycles_used / b.budget : 0)));
  return most === 0 ? '0 %' : most < 0.01 ? 'less than 0.01 %' : `${most < 10 ? most.toFixed(2) : Math.round(most)} %`;
}

function makeLaneChart() {
  return makeChart({
    title: 'the timers of each block, use of the budget, base fee of the lane', height: 170,
    words: (/** @type {any[]} */ d) => `the timer lane of ${d.length} blocks: at most ${Math.max(0, ...d.map((b) => b.fired))} fired and ${Math.max(0, ...d.map((b) => b.deferred))} left for later in one`,
    keys: (/** @type {any[]} */ d) => /** @type {[string, string][]} */ ([['good', 'fired'], d.some((b) => b.deferred) && ['warn', 'left for later'], d.some((b) => b.expired + b.insufficient) && ['bad', 'ended unfired'],
      ['hue1', `use of the budget, below: at most ${formatMostUse(d)}`], ['hue5', `base fee of the lane${describeFees(d)}, scale on the right`]].filter(Boolean)),
    table: (d) => ({ head: ['block', 'fired', 'left for later', 'ended', 'cycles', 'budget', 'base fee of the lane'], rows: d.map((b) => [formatCount(b.height), b.fired, b.deferred, b.expired + b.insufficient, formatCount(b.timer_cycles_used), formatCount(b.budget), formatCount(b.basefee_lane_timer)]) }),
    at(x, _y, w, _h, d) {
      const b = d[Math.floor((x - (w - d.length * (w / LANE_BLOCKS))) / (w / LANE_BLOCKS))];
      return b ? { text: `block ${formatCount(b.height)}: ${b.fired} fired, ${b.deferred} left for later, ${b.expired + b.insufficient} ended; ${formatCompact(b.timer_cycles_used)} of ${formatCompact(b.budget)} cycles; ${formatCount(b.basefee_lane_timer)} wei`, href: route.thingHref(`block:${b.height}`) } : null;
    },
    draw(ctx, w, hgt, d, ink) {
      const each = w / LANE_BLOCKS;
      const begin = w - d.length * each;
      const floor = hgt - 28;
      const range = findRange(d.map((b) => b.fired + b.deferred + b.expired + b.insufficient), 0);
      const y = makeScale(range, [floor, 14]);
      drawAxis(ctx, range, y, w, ink);
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
        // what is small is seen
        const tall = use ? Math.max(1.5, 20 * use) : 0;
        ctx.fillRect(x, hgt - 2 - tall, Math.max(1, each - 1), tall);
      });
      const fees = d.map((b) => Number(b.basefee_lane_timer));
      const feeRange = findRange(fees, 0);
      const f = makeScale(feeRange, [floor - 1, 18]);
      ctx.fillStyle = ink.hues[4];
      for (const fee of fees.length ? new Set([Math.min(...fees), Math.max(...fees)]) : []) {
        const text = `${formatCompact(fee)} wei`;
        ctx.textBaseline = 'bottom';
        ctx.fillText(text, w - ctx.measureText(text).width - 2, f(fee) - 2);
      }
      ctx.strokeStyle = ink.hues[4];
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      fees.forEach((fee, i) => { const x = begin + (i + 0.5) * each; if (i) ctx.lineTo(x, f(fee)); else ctx.moveTo(x, f(fee)); });
      ctx.stroke();
    },
  });
}

const LEFT = 56;

function makeCalendarChart() {
  return makeChart({
    title: 'pending timers: tiers by height', height: 108,
    words: (/** @type {any} */ c) => (c.error ? c.error : `${c.pending} timers are pending; ${c.carry} are past their height`),
    table: (c) => (c.error ? { head: ['why'], rows: [[c.error]] } : { head: ['heights', ...c.tiers.map((/** @type {any} */ t) => t.tier)], rows: (c.tiers[0]?.counts || []).map((/** @type {any} */ _n, /** @type {number} */ i) => [`${formatCount(c.from + i * c.width)}–${formatCount(c.from + (i + 1) * c.width - 1)}`, ...c.tiers.map((/** @type {any} */ t) => t.counts[i])]) }),
    at(x, y, w, _h, c) {
      if (c.error) return null;
      const bins = c.tiers[0]?.counts.length || 1;
      const i = Math.floor((x - LEFT) / ((w - LEFT) / bins));
      const tier = c.tiers[Math.floor((y - 4) / 22)];
      if (!tier || i < 0 || i >= bins) return null;
      const [a, b] = [c.from + i * c.width, Math.min(c.to, c.from + (i + 1) * c.width - 1)];
      return { text: `${formatPlural(tier.counts[i], 'timer')} of ${tier.tier} due at ${formatCount(a)} to ${formatCount(b)}`, href: route.hrefWith({ status: 'pending' }) };
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
      ctx.fillText(formatCount(c.from), LEFT, 78);
      const last = formatCount(c.to);
      ctx.fillText(last, w - ctx.measureText(last).width - 2, 78);
      ctx.fillText(`${formatCount(c.pending)} pending${c.carry ? `, ${formatCount(c.carry)} past their height` : ''}${c.arrears ? `, ${formatCount(c.arrears)} could not pay` : ''}${c.whole ? '' : ' (there are more than are counted)'}`, LEFT, 97);
      return undefined;
    },
  });
}

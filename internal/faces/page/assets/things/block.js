// @ts-check
import { get, encodePathPart } from '../api.js';
import { formatTime, formatCount, formatMoney, formatPlural, shortenID } from '../format.js';
import { makeFactList, h, makeLink, makeTable } from '../kit.js';
import { makeThingFromAnswer } from '../drawer.js';
import { nameOf, makeNameLink } from '../names.js';
import { thingHref } from '../route.js';

/** @type {import('../drawer.js').Kind} */
export const block = {
  word: 'block',
  json: (id) => `/block/${encodePathPart(id)}`,
  command: (id) => `block ${id}`,
  make: (id) => makeThingFromAnswer(async (signal) => {
    const b = await get(`/block/${encodePathPart(id)}`, {}, signal);
    const receipts = await get(`/block/${encodePathPart(id)}/receipts`, { limit: 1000 }, signal).catch(() => []);
    return { b, receipts };
  }, ({ b, receipts }) => {
    const timers = /** @type {[string, string[]][]} */ ([['fired', b.timers_fired], ['deferred', b.timers_deferred], ['expired', b.timers_expired], ['not paid', b.timers_insufficient]]);
    return [
      makeFactList([['hash', b.hash], ['parent', b.height > 0 ? makeLink(thingHref(`block:${b.height - 1}`), shortenID(b.parent)) : ''], ['view', makeLink(thingHref(`view:${b.view}`), formatCount(b.view))], ['proposer', makeNameLink(b.proposer)],
        ['time', formatTime(b.timestamp_ms)], ['skipped before', b.skipped ? formatPlural(b.skipped, 'height') : ''], ['cycles', `${formatCount(b.cycles_used)}, of timers ${formatCount(b.timer_cycles_used)}`],
        ['cells', formatCount(b.cells_used)], ['base fees', `${formatCount(b.basefee_cycle)} a cycle, ${formatCount(b.basefee_cell)} a cell, ${formatCount(b.basefee_lane_timer)} of the lane, in wei`],
        ['burned', formatMoney(String(BigInt(b.burned.cycle) + BigInt(b.burned.cell) + BigInt(b.burned.lane_timer)))], ['tips', formatMoney(String(BigInt(b.tips.transactions) + BigInt(b.tips.timers)))],
        ['votes', b.votes.map((/** @type {any} */ v) => nameOf(v.validator)).join(' ')], ['state root', shortenID(b.state_root)]]),
      receipts.length ? [h('h3', null, receipts.length === 1000 ? 'The first 1,000 receipts' : formatPlural(receipts.length, 'receipt')), makeTable(['what', 'to', 'status', 'cycles', 'fee'], receipts.map((/** @type {any} */ r) => [
        makeLink(thingHref(`${r.origin === 'timer' ? 'timer' : 'tx'}:${r.hash}`), r.origin === 'timer' ? 'fire' : r.origin === 'message' ? 'message' : 'tx', ' ', shortenID(r.hash)),
        [makeNameLink(r.to), r.handler ? '.' + r.handler : ''], h('span', { 'data-tone': r.status === 'ok' ? 'good' : 'bad' }, r.status), formatCount(r.cycles), formatMoney(r.fee)]))]
        : h('p', { class: 'dim' }, 'It holds no transaction, and no timer fired in it.'),
      timers.filter(([, ids]) => ids.length).map(([what, ids]) => h('p', null, `timers ${what}: `, ids.slice(0, 20).map((t) => [makeLink(thingHref(`timer:${t}`), shortenID(t)), ' ']), ids.length > 20 ? `and ${ids.length - 20} more` : '')),
      b.events.length ? h('details', null, h('summary', null, formatPlural(b.events.length, 'event')), makeTable(['actor', 'event'], b.events.map((/** @type {any} */ e) => [makeNameLink(e.actor), e.name]))) : null,
    ];
  }),
};

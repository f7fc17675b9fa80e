// @ts-check
import { get, part } from '../api.js';
import { bytes, count, money, plural, short } from '../format.js';
import { block, facts, h, link, list } from '../kit.js';
import { fetched } from '../drawer.js';
import { who } from '../names.js';
import { href, selected } from '../route.js';
import { entry, schemaOf } from '../typed.js';

/** @type {import('../drawer.js').Kind} */
export const actor = {
  word: 'actor',
  json: (id) => `/actor/${part(id)}`,
  command: (id) => `actor show ${id}`,
  make: (id) => fetched(async (signal) => {
    const a = await get(`/actor/${part(id)}`, {}, signal);
    const [schema, state, logs, receipts, timers] = await Promise.all([schemaOf(a.address, a.code_hash), get(`/actor/${part(a.address)}/state`, { limit: 50 }, signal).catch(() => []), get(`/actor/${part(a.address)}/logs`, { order: 'newest', limit: 30 }, signal).catch(() => []),
      get(`/actor/${part(a.address)}/receipts`, { limit: 50 }, signal).catch(() => []), get('/timers', { actor: a.address, order: 'newest', limit: 20 }, signal).catch(() => [])]);
    return { a, schema, state, logs, receipts, timers };
  }, ({ a, schema, state, logs, receipts, timers }) => [
    facts([['name', a.name], ['address', a.address], ['owner', who(a.owner)], ['balance', money(a.balance)], ['deployed at', link(selected(`block:${a.deployed_at}`), count(a.deployed_at))],
      ['timers pending', `${count(a.timers.pending)}${a.timers.next_due === null ? '' : `, the next due at ${count(a.timers.next_due)}`}`], ['code', short(a.code_hash)]]),
    h('p', null, link(href('actors', { sel: `actor:${a.address}` }), 'its handlers, with forms')),
    h('h3', null, 'State'),
    state.length ? list(['key', 'value'], state.map((/** @type {any} */ e) => entry(schema, e) || [bytes(e.key), valueOf(e)])) : h('p', { class: 'dim' }, 'It keeps nothing.'),
    h('h3', null, 'Printed, the latest first'),
    logs.length ? block(logs.map((/** @type {any} */ l) => `${l.height}  ${l.line}`).join('\n')) : h('p', { class: 'dim' }, 'It printed nothing.'),
    timers.length ? [h('h3', null, 'Timers'), list(['due', 'handler', 'status'], timers.map((/** @type {any} */ t) => [link(selected(`timer:${t.id}`), count(t.height)), t.handler, t.status]))] : null,
    receipts.length ? h('details', null, h('summary', null, `${plural(receipts.length, 'receipt')}, the latest first`), list(['block', 'handler', 'status', 'cycles', 'fee'], receipts.map((/** @type {any} */ r) => [link(selected(`${r.origin === 'timer' ? 'timer' : 'tx'}:${r.hash}`), count(r.height)), r.handler,
      h('span', { 'data-tone': r.status === 'ok' ? 'good' : 'bad' }, r.status), count(r.cycles), money(r.fee)]))) : null,
  ]),
};

/**
 * valueOf is a value as text, as a number, or as bytes.
 * @param {any} e
 */
export function valueOf(e) {
  if (e.text) return e.int && e.value.length <= 18 && !/^[\x20-\x7e]+$/.test(e.text) ? count(e.int) : e.text;
  return e.int && e.value.length <= 34 ? count(e.int) : bytes(e.value);
}

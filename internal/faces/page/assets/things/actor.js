// @ts-check
import { command, get, part } from '../api.js';
import { bytes, count, money, short } from '../format.js';
import { block, facts, h, link, list, typed } from '../kit.js';
import { fetched } from '../drawer.js';
import { rowsAt, timerAt } from '../moment.js';
import { who } from '../names.js';
import { read, selected, there } from '../route.js';
import * as store from '../store.js';
import { entry, schemaOf, thing } from '../typed.js';

/** How many keys, and how many lines, timers and receipts are shown. */
const [STATE, FEW] = [50, 30];

/**
 * some shows a list, or says why there is none.
 * @param {any} rows
 * @param {string} none
 * @param {(rows: any[]) => any} make
 */
function some(rows, none, make) {
  if (!Array.isArray(rows)) return h('p', { class: 'wrong' }, rows.wrong, rows.hint ? ` ${rows.hint}` : '');
  return rows.length ? make(rows) : h('p', { class: 'dim' }, none);
}

/**
 * more says that there is more, and what to type.
 * @param {string} why
 * @param {string} text
 */
function more(why, text) { return [why ? h('p', { class: 'dim' }, why) : null, typed(command(text))]; }

/** @type {import('../drawer.js').Kind} */
export const actor = {
  word: 'actor',
  json: (id) => `/actor/${part(id)}`,
  command: (id) => `actor show ${id}`,
  ofMoment: true,
  make: (id) => {
    const { at: moment } = read();
    return fetched(async (signal) => {
      const a = await get(`/actor/${part(id)}`, {}, signal);
      const at = moment !== null && moment < store.head() ? moment : null;
      if (at !== null && a.deployed_at > at) return { a, at, schema: null, state: [], logs: [], receipts: [], timers: [] };
      const [own, late] = [`/actor/${part(a.address)}`, (/** @type {any} */ e) => ({ wrong: e.message, hint: e.hint })];
      const logsOf = () => (at === null ? get(own + '/logs', { order: 'newest', limit: FEW + 1 }, signal)
        : rowsAt(own + '/logs', { order: 'newest' }, (l) => l.height <= at, FEW, signal).then((r) => (r.cut ? { wrong: 'It printed too much since to look for its lines of then.' } : r.list)));
      const [schema, state, logs, receipts, timers] = await Promise.all([schemaOf(a.address, a.code_hash), get(own + '/state', { limit: STATE + 1, at: at === null ? '' : `h${at}` }, signal).catch(late),
        logsOf().catch(late), at === null ? get(own + '/receipts', { limit: FEW + 1 }, signal).catch(late) : null, get('/timers', { actor: a.address, order: 'newest', limit: FEW + 1, due_by: at }, signal).catch(late)]);
      return { a, at, schema, state, logs, receipts, timers };
    }, (told) => content(told));
  },
};

/** @param {any} told */
function content({ a, at, schema, state, logs, receipts, timers }) {
  const id = a.name || a.address;
  if (at !== null && a.deployed_at > at) return h('p', { class: 'sentence' }, `It was deployed in block ${count(a.deployed_at)}: at block ${count(at)} there was none.`);
  return [
    at === null ? null : h('p', { class: 'present' }, `State, printed lines and timers are of block ${count(at)}. Balance and pending timers are of the present.`),
    facts([['name', a.name], ['address', a.address], ['owner', who(a.owner)], [at === null ? 'balance' : 'balance now', money(a.balance)], ['deployed at', link(selected(`block:${a.deployed_at}`), count(a.deployed_at))],
      [at === null ? 'timers pending' : 'pending now', `${count(a.timers.pending)}${a.timers.next_due === null ? '' : `, the next due at ${count(a.timers.next_due)}`}`], ['code', short(a.code_hash)]]),
    h('p', null, link(there('actors', { sel: `actor:${a.address}` }), 'its handlers, with forms')),
    h('h3', null, at === null ? 'State' : `State at block ${count(at)}`),
    some(state, 'It keeps nothing.', (all) => [list(['key', 'value'], all.slice(0, STATE).map((/** @type {any} */ e) => entry(schema, e) || [bytes(e.key), thing(valueOf(e))])),
      all.length > STATE ? more(`The first ${STATE} keys are shown, and there are more:`, `actor state ${id}`) : null]),
    h('h3', null, `Printed, the latest first${logs.length > FEW ? `: ${FEW} lines, and there are more` : ''}`),
    some(logs, 'It printed nothing.', (all) => [block(all.slice(0, FEW).map((/** @type {any} */ l) => `${l.height}  ${l.line}`).join('\n')), all.length > FEW ? more('', `actor logs ${id}`) : null]),
    timers.length === 0 ? null : [h('h3', null, 'Timers'), some(timers, '', (all) => [list(['due', 'handler', 'timer', 'status'], all.slice(0, FEW).map((/** @type {any} */ t) => [link(selected(`timer:${t.id}`), count(t.height)), t.handler, short(t.id), timerAt(t, at)])),
      all.length > FEW ? h('p', null, `The latest ${FEW} are shown: `, link(there('timers', { actor: id }), 'all of them')) : null])],
    receipts === null ? h('p', null, link(there('txs'), `executions up to block ${count(at)}`)) : receipts.length === 0 ? null : receiptsOf(receipts),
  ];
}

/** @param {any} receipts */
function receiptsOf(receipts) {
  return h('details', null, h('summary', null, `Receipts of the last 100 blocks, the latest first${receipts.length > FEW ? `: ${FEW} of more` : ''}`),
    some(receipts, '', (all) => list(['block', 'handler', 'status', 'cycles', 'fee'], all.slice(0, FEW).map((/** @type {any} */ r) => [link(selected(`${r.origin === 'timer' ? 'timer' : 'tx'}:${r.hash}`), count(r.height)), r.handler,
      h('span', { 'data-tone': r.status === 'ok' ? 'good' : 'bad' }, r.status), count(r.cycles), money(r.fee)]))));
}

/**
 * valueOf is a value as text, as a number, or as bytes.
 * @param {any} e
 */
export function valueOf(e) {
  if (e.text) return e.int && e.value.length <= 18 && !/^[\x20-\x7e]+$/.test(e.text) ? count(e.int) : e.text;
  return e.int && e.value.length <= 34 ? count(e.int) : bytes(e.value);
}

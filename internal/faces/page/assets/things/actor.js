// @ts-check
import { devnetCommand, get, encodePathPart } from '../api.js';
import { formatBytes, formatCount, formatMoney, shortenID } from '../format.js';
import { makeTextBlock, makeFactList, h, makeLink, makeTable, makeCommandLine } from '../kit.js';
import { makeThingFromAnswer } from '../drawer.js';
import { heightIfBornLater, momentOf, makeNotYetNote } from '../moment.js';
import { makeNameLink } from '../names.js';
import { thingHref, viewHref } from '../route.js';
import { makeStateRow, fetchSchema, linkIfHash } from '../typed.js';

/** How many keys, and how many lines, timers and receipts are shown. */
const [MOST_KEYS, MOST_ROWS] = [50, 30];

/**
 * makeListOrNote says why there is no list.
 * @param {any} rows
 * @param {string} none
 * @param {(rows: any[]) => any} make
 */
function makeListOrNote(rows, none, make) {
  if (!Array.isArray(rows)) return h('p', { class: 'wrong' }, rows.wrong, rows.hint ? ` ${rows.hint}` : '');
  return rows.length ? make(rows) : h('p', { class: 'dim' }, none);
}

/**
 * makeMoreNote says that there is more, and what to type.
 * @param {string} why
 * @param {string} text
 */
function makeMoreNote(why, text) { return [why ? h('p', { class: 'dim' }, why) : null, makeCommandLine(devnetCommand(text))]; }

/** @type {import('../drawer.js').Kind} */
export const actor = {
  word: 'actor',
  json: (id) => `/actor/${encodePathPart(id)}`,
  command: (id) => `actor show ${id}`,
  make: (id) => makeThingFromAnswer(async (signal) => {
    const at = momentOf();
    const born = await heightIfBornLater(`/actor/${encodePathPart(id)}`, 'deployed_at', at, signal);
    if (born) return { born, at };
    const a = await get(`/actor/${encodePathPart(id)}`, { at }, signal);
    const [own, late] = [`/actor/${encodePathPart(a.address)}`, (/** @type {any} */ e) => ({ wrong: e.message, hint: e.hint })];
    const ask = (/** @type {string} */ path, /** @type {any} */ query) => get(path, { limit: MOST_ROWS + 1, at, ...query }, signal).catch(late);
    const [schema, state, logs, receipts, timers] = await Promise.all([fetchSchema(a.address, a.code_hash, at), ask(own + '/state', { limit: MOST_KEYS + 1 }),
      ask(own + '/logs', { order: 'newest' }), ask(own + '/receipts'), ask('/timers', { actor: a.address, order: 'newest' })]);
    return { a, at, schema, state, logs, receipts, timers };
  }, makeContent),
};

/** @param {any} told */
function makeContent({ born, a, at, schema, state, logs, receipts, timers }) {
  const then = at && `at block ${formatCount(Number(at.slice(1)))}`;
  if (born) return makeNotYetNote('deployed', born, at);
  const id = a.name || a.address;
  return [
    at ? h('p', { class: 'present' }, `As it was ${then}.`) : null,
    makeFactList([['name', a.name], ['address', a.address], ['owner', makeNameLink(a.owner)], ['balance', formatMoney(a.balance)], ['deployed at', makeLink(thingHref(`block:${a.deployed_at}`), formatCount(a.deployed_at))],
      ['timers pending', `${formatCount(a.timers.pending)}${a.timers.next_due === null ? '' : `, the next due at ${formatCount(a.timers.next_due)}`}`], ['code', shortenID(a.code_hash)]]),
    h('p', null, makeLink(viewHref('actors', { sel: `actor:${a.address}` }), 'its handlers, with forms')),
    h('h3', null, `State ${then}`),
    makeListOrNote(state, 'It keeps nothing.', (all) => [makeTable(['key', 'value'], all.slice(0, MOST_KEYS).map((/** @type {any} */ e) => makeStateRow(schema, e) || [formatBytes(e.key), linkIfHash(formatStateValue(e))])),
      all.length > MOST_KEYS ? makeMoreNote(`The first ${MOST_KEYS} keys are shown, and there are more:`, `actor state ${id}`) : null]),
    h('h3', null, `Printed, the latest first${logs.length > MOST_ROWS ? `: ${MOST_ROWS} lines, and there are more` : ''}`),
    makeListOrNote(logs, 'It printed nothing.', (all) => [makeTextBlock(all.slice(0, MOST_ROWS).map((/** @type {any} */ l) => `${l.height}  ${l.line}`).join('\n')), all.length > MOST_ROWS ? makeMoreNote('', `actor logs ${id}`) : null]),
    timers.length === 0 ? null : [h('h3', null, 'Timers'), makeListOrNote(timers, '', (all) => [makeTable(['due', 'handler', 'timer', 'status'], all.slice(0, MOST_ROWS).map((/** @type {any} */ t) => [makeLink(thingHref(`timer:${t.id}`), formatCount(t.height)), t.handler, shortenID(t.id), t.status])),
      all.length > MOST_ROWS ? h('p', null, `The latest ${MOST_ROWS} are shown: `, makeLink(viewHref('timers', { actor: id }), 'all of them')) : null])],
    receipts.length === 0 ? null : makeReceiptTable(receipts),
  ];
}

/** @param {any} receipts */
function makeReceiptTable(receipts) {
  return h('details', null, h('summary', null, `Receipts of the last 100 blocks, the latest first${receipts.length > MOST_ROWS ? `: ${MOST_ROWS} of more` : ''}`),
    makeListOrNote(receipts, '', (all) => makeTable(['block', 'handler', 'status', 'cycles', 'fee'], all.slice(0, MOST_ROWS).map((/** @type {any} */ r) => [makeLink(thingHref(`${r.origin === 'timer' ? 'timer' : 'tx'}:${r.hash}`), formatCount(r.height)), r.handler,
      h('span', { 'data-tone': r.status === 'ok' ? 'good' : 'bad' }, r.status), formatCount(r.cycles), formatMoney(r.fee)]))));
}

/**
 * formatStateValue returns text, a number, or bytes.
 * @param {any} e
 */
export function formatStateValue(e) {
  if (e.text) return e.int && e.value.length <= 18 && !/^[\x20-\x7e]+$/.test(e.text) ? formatCount(e.int) : e.text;
  return e.int && e.value.length <= 34 ? formatCount(e.int) : formatBytes(e.value);
}

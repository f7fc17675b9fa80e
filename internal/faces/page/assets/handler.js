// @ts-check
// A form for a handler: its payload, and a dry run before it is sent.
import { command, get, post, quoted } from './api.js';
import { bytes, count } from './format.js';
import { block, busy, choice, copier, facts, field, fill, h } from './kit.js';
import { receiptFacts, traceTree } from './receipt.js';
import { selected } from './route.js';
import { link } from './kit.js';
import * as store from './store.js';

/**
 * Payloads that were used last, by actor and handler.
 * @type {Map<string, string>}
 */
const used = new Map();

/**
 * accounts are those that may sign.
 * @type {{turn: number, list: Promise<string[]>}|null}
 */
let signers = null;

/** @returns {Promise<string[]>} */
function accounts() {
  if (!signers || signers.turn !== store.turns) signers = { turn: store.turns, list: get('/devnet/accounts').then((all) => all.map((/** @type {any} */ a) => a.name)).catch(() => []) };
  return signers.list;
}

/**
 * handlerForm is the form of one handler.
 * @param {any} actor
 * @param {any} handler
 * @param {boolean} open
 */
export function handlerForm(actor, handler, open) {
  const strict = Boolean(store.now?.ready?.strict);
  const to = actor.name || actor.address;
  const key = `${actor.address} ${handler.name}`;
  const payload = field('payload: JSON, text, or 0x and hexadecimal digits', { rows: 2, cols: 40 });
  payload.input.value = used.get(key) || '';
  const from = choice('from', ['alice']);
  accounts().then((list) => { if (list.length) fill(from.input, list.filter((n) => n !== 'system').map((n) => h('option', { value: n }, n))); });
  const value = field('value in wei', { size: 10, value: '0', inputmode: 'numeric' });
  const answer = h('div', { class: 'answer', 'aria-live': 'polite' });

  const written = () => payload.input.value;
  const read = h('button', { type: 'button' }, 'read');
  const dry = h('button', { type: 'button' }, 'dry run');
  const send = h('button', { type: 'button', class: 'primary' }, 'send');
  read.addEventListener('click', () => busy(read, async () => {
    used.set(key, written());
    const r = await post('/actor/read', { actor: to, handler: handler.name, payload: written() });
    fill(answer, facts([['read at', count(r.height)], ['status', h('span', { 'data-tone': r.status === 'ok' ? 'good' : 'bad' }, r.status)], ['error', r.error ? `${r.error.code}: ${r.error.message}` : ''], ['cycles', count(r.cycles)], ['output', r.text || bytes(r.output)]]),
      r.logs.length ? block(r.logs.join('\n')) : null);
  }));
  const order = (/** @type {boolean} */ only) => ({ from: from.input.value, to, handler: handler.name, payload: written(), value: value.input.value || '0', ...(only ? { dry_run: true, trace: true } : {}) });
  dry.addEventListener('click', () => busy(dry, async () => {
    used.set(key, written());
    const r = await post('/devnet/send', order(true));
    fill(answer, h('p', { class: 'warn' }, 'A dry run: nothing changed.'), receiptFacts(r), r.trace ? traceTree(r.trace) : null);
  }));
  send.addEventListener('click', () => busy(send, async () => {
    used.set(key, written());
    const r = await post('/devnet/send', order(false));
    fill(answer, receiptFacts(r), h('p', null, link(selected(`tx:${r.hash}`), 'the transaction')));
    return `${handler.name}: ${r.status} in block ${r.height}`;
  }));
  return h('details', { class: 'handler', open }, h('summary', null, h('code', null, handler.name), ' ', h('span', { class: 'dim' }, handler.doc)),
    h('div', { class: 'orders' }, payload.el), h('div', { class: 'orders' },
      h('span', { class: 'action' }, read, copier(() => command(`actor read ${quoted(to)} ${quoted(handler.name)}${written() ? ' ' + quoted(written()) : ''}`), '$', `copy as command: actor read ${handler.name}`)),
      strict ? null : [from.el, value.el, dry, h('span', { class: 'action' }, send, copier(() => command(`actor call ${quoted(to)} ${quoted(handler.name)}${written() ? ' ' + quoted(written()) : ''} --from ${from.input.value}`), '$', `copy as command: actor call ${handler.name}`))]), answer);
}

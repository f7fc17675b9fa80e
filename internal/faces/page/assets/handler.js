// @ts-check
// A form for a handler: its arguments or its payload, and a dry run before it is sent.
import { devnetCommand, get, post, quoteForShell } from './api.js';
import { formatBytes, formatCount } from './format.js';
import { makeArgumentForm, Misread } from './form.js';
import { makeTextBlock, runOrder, makeChoice, makeCopyButton, makeFactList, makeField, fillElement, h, trackLatestCall } from './kit.js';
import { makeReceipt, makeTraceTree } from './receipt.js';
import { thingHref } from './route.js';
import { makeLink } from './kit.js';
import * as store from './store.js';
import { makeOutputText } from './typed.js';

/**
 * Payloads that were used last, by actor and handler.
 * @type {Map<string, string>}
 */
const lastPayloads = new Map();

/**
 * signers are the accounts that may sign.
 * @type {{turn: number, list: Promise<string[]>}|null}
 */
let signers = null;

/** @returns {Promise<string[]>} */
function fetchSigners() {
  if (!signers || signers.turn !== store.resetCount) signers = { turn: store.resetCount, list: get('/devnet/accounts').then((all) => all.map((/** @type {any} */ a) => a.name)).catch(() => []) };
  return signers.list;
}

/**
 * HandlerInput is what a handler is given: bytes, or arguments by name.
 * @typedef {{el: any, body: () => {[name: string]: any}, words: () => string, wrong: (e: any) => boolean, clear: () => void}} HandlerInput
 */

/**
 * @param {string} key
 * @returns {HandlerInput}
 */
function makePayloadField(key) {
  const payload = makeField('payload: JSON, text, or 0x and hexadecimal digits', { rows: 2, cols: 40 });
  payload.input.value = lastPayloads.get(key) || '';
  return {
    el: h('div', { class: 'orders' }, payload.el),
    body: () => (lastPayloads.set(key, payload.input.value), { payload: payload.input.value }),
    words: () => (payload.input.value ? ' ' + quoteForShell(payload.input.value) : ''), wrong: () => false, clear: () => {},
  };
}

/**
 * @param {import('./typed.js').Schema} schema
 * @param {import('./typed.js').Handler} handler
 * @param {string} key
 * @returns {HandlerInput}
 */
function makeArgumentFields(schema, handler, key) {
  const fields = makeArgumentForm(schema, handler.arguments || [], key);
  const words = () => {
    try {
      return Object.entries(fields.args()).map(([name, v]) => ' ' + quoteForShell(`${name}=${typeof v === 'string' ? v : JSON.stringify(v)}`)).join('');
    } catch { return ''; }
  };
  return { el: fields.el, body: () => ({ args: fields.args() }), words, clear: fields.clear,
    wrong: (e) => (e.field || '').startsWith('args.') && fields.wrong(e.field.slice(5), e instanceof Misread ? e.words : `${e.words}${e.hint ? '. ' + e.hint : ''}`) };
}

/**
 * @param {any} actor
 * @param {any} handler
 * @param {boolean} open
 * @param {import('./typed.js').Schema|null} schema
 */
export function makeHandlerForm(actor, handler, open, schema) {
  const strict = Boolean(store.latestBeat?.ready?.strict);
  const to = actor.name || actor.address;
  const typed = schema?.handlers.find((x) => x.name === handler.name);
  const handlerInput = schema && typed && !typed.raw ? makeArgumentFields(schema, typed, `${actor.address} ${handler.name}`) : makePayloadField(`${actor.address} ${handler.name}`);
  const from = makeChoice('from', ['alice']);
  fetchSigners().then((list) => { if (list.length) fillElement(from.input, list.filter((n) => n !== 'system').map((n) => h('option', { value: n }, n))); });
  const value = makeField('value in wei', { size: 10, value: '0', inputmode: 'numeric' });
  const answer = h('div', { class: 'answer', 'aria-live': 'polite' });
  // the answer to the latest order stays
  const trackCall = trackLatestCall();

  const makeButton = (/** @type {string} */ label, /** @type {() => Promise<string|void>} */ run, /** @type {string} */ kind = '') => {
    const el = h('button', { type: 'button', class: kind }, label);
    el.addEventListener('click', () => runOrder(el, async () => {
      handlerInput.clear();
      try {
        return await run();
      } catch (e) {
        // otherwise its field says it
        if (!handlerInput.wrong(e)) throw e;
        return undefined;
      }
    }));
    return el;
  };
  const read = makeButton('read', async () => {
    const latest = trackCall();
    const r = await post('/actor/read', { actor: to, handler: handler.name, ...handlerInput.body() });
    if (latest()) fillElement(answer, makeFactList([['read at', formatCount(r.height)], ['status', h('span', { 'data-tone': r.status === 'ok' ? 'good' : 'bad' }, r.status)], ['error', r.error ? `${r.error.code}: ${r.error.message}` : ''], ['cycles', formatCount(r.cycles)],
      ['output', typed ? makeOutputText(actor.address, handler.name, r.output) : r.text || formatBytes(r.output)]]), r.logs.length ? makeTextBlock(r.logs.join('\n')) : null);
  });
  const makeOrder = (/** @type {boolean} */ only) => ({ from: from.input.value, to, handler: handler.name, ...handlerInput.body(), value: value.input.value || '0', ...(only ? { dry_run: true, trace: true } : {}) });
  const dry = makeButton('dry run', async () => {
    const latest = trackCall();
    const r = await post('/devnet/send', makeOrder(true));
    if (latest()) fillElement(answer, h('p', { class: 'warn' }, 'A dry run: nothing changed.'), makeReceipt(r), r.trace ? makeTraceTree(r.trace) : null);
  });
  const send = makeButton('send', async () => {
    const latest = trackCall();
    const r = await post('/devnet/send', makeOrder(false));
    if (latest()) fillElement(answer, makeReceipt(r), h('p', null, makeLink(thingHref(`tx:${r.hash}`), 'the transaction')));
    return `${handler.name}: ${r.status} in block ${r.height}`;
  }, 'primary');
  const callers = typed?.callers;
  const chain = callers === 'chain';
  return h('details', { class: 'handler', open }, h('summary', null, h('code', null, handler.name), ' ', h('span', { class: 'dim' }, handler.doc)),
    chain ? h('p', { class: 'dim' }, 'Only the chain calls this handler.') : [Array.isArray(callers) ? h('p', { class: 'dim' }, `Callers: ${callers.join(', ')}.`) : null, handlerInput.el,
      h('div', { class: 'orders' },
        h('span', { class: 'action' }, read, makeCopyButton(() => devnetCommand(`actor read ${quoteForShell(to)} ${quoteForShell(handler.name)}${handlerInput.words()}`), '$', `copy as command: actor read ${handler.name}`)),
        strict ? null : [from.el, value.el, dry, h('span', { class: 'action' }, send, makeCopyButton(() => devnetCommand(`actor call ${quoteForShell(to)} ${quoteForShell(handler.name)}${handlerInput.words()} --from ${from.input.value}`), '$', `copy as command: actor call ${handler.name}`))])], answer);
}

// @ts-check
// Faults as the page makes them: each is an order to POST /devnet/fault, and a command line.
import { devnetCommand, post } from './api.js';
import { formatPlural, joinNames } from './format.js';
import { makeActionButton, appendChildren, runOrder, makeChoice, makeCopyButton, makeField, h, showIf, writeText } from './kit.js';
import { faultsNow } from './moment.js';
import * as store from './store.js';
import { LIES, LINK_VERBS, ROLES } from './verbs.js';
import { LIE_MEANINGS } from './words.js';

/**
 * @param {any} order
 * @returns {Promise<string>}
 */
export async function makeFault(order) {
  const r = await post('/devnet/fault', order);
  return `${r.verb} ${r.detail}${r.did ? ': ' + r.did : ''}`;
}

/**
 * @param {any} o
 * @param {string} [kind]
 */
export function faultCommand(o, kind) {
  const parts = ['fault', kind || '', o.verb].filter(Boolean);
  if (o.verb === 'partition') parts.push(o.groups.map((/** @type {string[]} */ g) => g.join(',')).join(' / ').trim());
  else if (o.verb === 'link') {
    parts.push(o.a, o.b);
    for (const name of ['latency', 'jitter', 'loss', 'duplicate', 'reorder', 'bandwidth']) if (o[name]) parts.push(`--${name} ${o[name]}`);
    if (o.one_way) parts.push('--one-way');
  } else {
    parts.push(o.node);
    if (o.kind) parts.push(o.kind);
    if (o.delay) parts.push(o.delay);
    if (o.role) parts.push(`--role ${o.role}`);
    if (o.contract) parts.push(`--contract ${o.contract}`);
    if (o.after_blocks) parts.push(String(o.after_blocks));
    if (['blackhole', 'saturate'].includes(o.verb) && !o.on) parts.push('--off');
  }
  return devnetCommand(parts.join(' '));
}

/**
 * @param {string} label
 * @param {any} order
 * @param {string} kind
 * @param {string} [tone]
 * @param {string} [asks]
 */
function makeFaultButton(label, order, kind, tone, asks) {
  return makeActionButton(label, faultCommand(order, kind), () => makeFault(order), tone, asks);
}

/**
 * makeEndButton returns null where no order ends the fault.
 * @param {any} f
 */
export function makeEndButton(f) {
  if (LINK_VERBS.includes(f.verb)) return makeHealButton();
  const order = orderToEnd(f);
  return order && makeActionButton(order.verb === 'misbehave' ? 'honest' : order.verb === f.verb ? 'end' : order.verb, faultCommand(order, kindOfNode(order.node)), () => makeFault(order));
}

/** @param {any} f */
export function makeRepeatButton(f) { return f.order && makeActionButton('again', faultCommand(f.order, f.order.node ? kindOfNode(f.order.node) : ''), () => makeFault(f.order)); }

/** @param {string} node */
function kindOfNode(node) { return store.latestBeat?.nodes.some((/** @type {any} */ n) => n.name === node) ? 'validator' : 'runner'; }

/**
 * faultWords is a fault in a sentence: whom it separates from whom, rather than how many connections there happened to be.
 * @param {any} f
 */
export function faultWords(f) {
  const o = f.order;
  const names = (store.latestBeat?.nodes || []).map((/** @type {any} */ n) => n.name);
  if (f.verb === 'partition' && o?.groups) {
    const runners = store.latestBeat?.runners.all || 0;
    const spared = !o.groups.flat().some((/** @type {string} */ n) => !names.includes(n));
    // who joined since is of no side
    const rest = f.ended && o.groups.every((/** @type {string[]} */ g) => g.length) ? [] : names.filter((/** @type {string} */ n) => !o.groups.flat().includes(n));
    const groups = [...o.groups.filter((/** @type {string[]} */ g) => g.length), ...(rest.length ? [rest] : [])];
    return `partition: ${groups.map((g) => (g.length > 4 ? formatPlural(g.length, 'node') : joinNames(g))).join(' cut off from ')}${runners && spared ? '; runners reach all' : ''}`;
  }
  return `${f.verb} ${f.detail}`;
}

/**
 * effectWords is what a fault did so far, without connections: those that there were are no links.
 * @param {any} f
 */
export function effectWords(f) { return f.did.split(', ').filter((/** @type {string} */ part) => !(LINK_VERBS.includes(f.verb) && / connections? cut$/.test(part))).join(', '); }

export function makeHealButton() {
  return makeActionButton('heal', devnetCommand('heal'), async () => {
    await post('/devnet/heal');
    return 'all links are mended';
  });
}

/**
 * orderToEnd is the order that ends a fault in force; null where none does.
 * @param {any} f
 * @returns {any}
 */
function orderToEnd(f) {
  const o = f.order;
  if (!o) return null;
  switch (f.verb) {
    case 'crash': case 'drop': return { verb: 'restart', node: o.node };
    case 'freeze': return { verb: 'thaw', node: o.node };
    case 'misbehave': return o.kind === 'honest' ? null : { verb: 'misbehave', node: o.node, kind: 'honest' };
    case 'slow': return { verb: 'slow', node: o.node, delay: '0s' };
    case 'blackhole': case 'saturate': return o.on ? { verb: f.verb, node: o.node, on: false } : null;
    default: return null;
  }
}

/**
 * makeOrderForm returns a choice beside a button that orders it, and what the choice means.
 * @param {string} label
 * @param {string[]} options
 * @param {(chosen: string) => any} order
 * @param {string} kind
 */
function makeOrderForm(label, options, order, kind) {
  const chosen = makeChoice(label, options);
  const button = h('button', { type: 'button' }, label);
  const means = h('small', { class: 'means' });
  const explain = () => writeText(means, LIE_MEANINGS[chosen.input.value] || '');
  button.addEventListener('click', () => runOrder(button, () => makeFault(order(chosen.input.value))));
  chosen.input.addEventListener('change', explain);
  explain();
  chosen.el.firstElementChild.remove();
  chosen.input.setAttribute('aria-label', label);
  return h('span', { class: 'action' }, chosen.el, button, makeCopyButton(() => faultCommand(order(chosen.input.value), kind), '$', `copy as command: ${label}`), means);
}

/**
 * makeFaultButtons is for the faults that one node can have now.
 * @param {'validator'|'runner'} kind
 * @param {string} node
 */
export function makeFaultButtons(kind, node) {
  /** @type {[(s: {runs: boolean, frozen: boolean}) => boolean, any][]} */
  const all = [];
  const addButton = (/** @type {(s: {runs: boolean, frozen: boolean}) => boolean} */ when, /** @type {any} */ el) => all.push([when, el]);
  const makeButton = (/** @type {string} */ label, /** @type {any} */ more, tone = '', asks = '') => makeFaultButton(label, { verb: label, node, ...more }, kind, tone, asks);
  addButton((s) => s.runs, makeButton(kind === 'validator' ? 'crash' : 'drop', {}, 'danger'));
  addButton((s) => !s.runs, makeButton('restart', {}));
  if (kind === 'validator') addButton((s) => !s.runs, makeButton('wipe', {}, 'danger', 'click again: it loses its files'));
  addButton((s) => s.runs && !s.frozen, makeButton('freeze', {}));
  addButton((s) => s.frozen, makeButton('thaw', {}));
  if (kind === 'runner') {
    addButton((s) => s.runs, makeButton('blackhole', { on: true }));
    addButton((s) => s.runs, makeButton('saturate', { on: true }));
  }
  addButton((s) => s.runs, makeOrderForm('misbehave', [...LIES[kind], 'honest'], (k) => ({ verb: 'misbehave', node, kind: k }), kind));
  addButton((s) => s.runs, makeOrderForm('panic', ROLES[kind], (role) => ({ verb: 'panic', node, role }), kind));
  addButton((s) => s.runs, makeOrderForm('hang 2s', ROLES[kind], (role) => ({ verb: 'hang', node, role, delay: '2s' }), kind));
  if (kind === 'runner') addButton((s) => s.runs, makeOrderForm('slow', ['2s', '10s', '0s'], (delay) => ({ verb: 'slow', node, delay }), kind));
  const el = appendChildren(h('div', { class: 'orders cheats' }), all.map(([, one]) => one));
  return {
    el,
    draw() {
      const own = faultsNow().filter((/** @type {any} */ f) => f.order.node === node);
      const known = store.latestBeat?.nodes.find((/** @type {any} */ n) => n.name === node);
      const down = own.some((/** @type {any} */ f) => ['crash', 'drop', 'rejoin'].includes(f.verb)) || known && !known.running;
      const state = { runs: !down, frozen: !down && own.some((/** @type {any} */ f) => f.verb === 'freeze') };
      for (const [when, one] of all) showIf(one, when(state));
    },
  };
}

/** @param {() => string[]} nodes */
export function makeLinkForm(nodes) {
  const a = makeField('from', { value: 'v0', size: 6, list: 'known' });
  const b = makeField('to', { value: 'v1', size: 6, list: 'known' });
  const latency = makeField('latency', { value: '80ms', size: 6 });
  const loss = makeField('loss', { value: '0', type: 'number', min: 0, max: 1, step: 0.05 });
  const oneWay = h('input', { type: 'checkbox' });
  const makeOrder = () => ({ verb: 'link', a: a.input.value, b: b.input.value, latency: latency.input.value, loss: Number(loss.input.value), one_way: oneWay.checked });
  const button = h('button', { type: 'button' }, 'set the link');
  button.addEventListener('click', () => runOrder(button, () => makeFault(makeOrder())));
  const el = h('div', { class: 'orders' }, a.el, b.el, latency.el, loss.el, h('label', { class: 'field' }, h('span', null, 'one way'), oneWay),
    h('span', { class: 'action' }, button, makeCopyButton(() => faultCommand(makeOrder()), '$', 'copy as command: link')));
  const first = nodes();
  if (first.length > 1) { a.input.value = first[0]; b.input.value = first[1]; }
  return el;
}

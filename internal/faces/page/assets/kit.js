// @ts-check
// What elements are made of. Nothing here takes markup: text becomes text, always.
import { formatMoney, visibleText, formatWei } from './format.js';
import { findMeaning } from './words.js';

/**
 * @typedef {Node|string|number|null|undefined|false} Child
 * @typedef {{[name: string]: any}} Props
 */

/**
 * h makes an element. A prop on… is a listener, others are attributes; true is an empty one.
 * @param {string} tag
 * @param {Props|null} [props]
 * @param {...(Child|Child[]|any[])} children
 * @returns {any}
 */
export function h(tag, props, ...children) {
  const svg = tag.startsWith('svg:');
  const el = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) el.addEventListener(name.slice(2), value);
    else if (name === 'style') throw new Error('styles stand in page.css');
    else el.setAttribute(name, value === true ? '' : String(value));
  }
  return add(el, children);
}

/**
 * add puts children behind what is there.
 * @param {any} el
 * @param {any[]} children
 * @returns {any}
 */
export function add(el, children) {
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    el.append(child instanceof Node ? child : visibleText(child));
  }
  return el;
}

/**
 * fill replaces the children.
 * @param {Element} el
 * @param {...any} children
 * @returns {any}
 */
export function fill(el, ...children) {
  el.replaceChildren();
  return add(el, children);
}

/**
 * write sets text, where it differs.
 * @param {Node} el
 * @param {unknown} value
 */
export function write(el, value) {
  const text = visibleText(value);
  if (el.textContent !== text) el.textContent = text;
}

/**
 * show hides or shows.
 * @param {Element} el
 * @param {boolean} on
 */
export function show(el, on) { if (el.hasAttribute('hidden') === on) el.toggleAttribute('hidden', !on); }

/**
 * mark sets or takes away a class.
 * @param {Element} el
 * @param {string} name
 * @param {boolean} on
 */
export function mark(el, name, on) { if (el.classList.contains(name) !== on) el.classList.toggle(name, on); }

/**
 * attr sets an attribute, where it differs.
 * @param {Element} el
 * @param {string} name
 * @param {string} value
 */
export function attr(el, name, value) { if (el.getAttribute(name) !== value) el.setAttribute(name, value); }

/**
 * link leads to a place of the page.
 * @param {string} href
 * @param {...any} children
 */
export function link(href, ...children) { return h('a', { href }, ...children); }

/**
 * term is a word of the page with what it means, where that is known.
 * @param {any} word
 */
export function term(word) {
  const means = typeof word === 'string' ? findMeaning(word) : '';
  return means ? h('abbr', { class: 'term', title: means, tabindex: '0' }, word) : word;
}

/**
 * facts is a list of names and values. Values that are empty are left out.
 * @param {[string, any][]} pairs
 */
export function facts(pairs) {
  const el = h('dl', { class: 'facts' });
  for (const [name, value] of pairs) {
    if (value === null || value === undefined || value === '' || Array.isArray(value) && !value.length) continue;
    add(el, [h('dt', null, term(name)), h('dd', null, value)]);
  }
  return el;
}

/**
 * amount is money, and the same in wei where that is another text.
 * @param {string} n
 */
export function amount(n) { return formatMoney(n) === formatWei(n) ? formatWei(n) : [formatMoney(n), h('small', null, ' ', formatWei(n))]; }

/**
 * block is text of several lines, as somebody wrote it.
 * @param {unknown} text
 */
export function block(text) {
  const el = h('pre', { tabindex: '0' });
  el.textContent = visibleText(text, true);
  return el;
}

/**
 * list is a plain table that is made once.
 * @param {string[]} head
 * @param {any[][]} rows
 * @param {string} [caption]
 */
export function list(head, rows, caption) {
  return h('div', { class: 'scroll', tabindex: '0' }, h('table', null, caption ? h('caption', null, caption) : null,
    h('thead', null, h('tr', null, head.map((name) => h('th', { scope: 'col' }, term(name))))),
    h('tbody', null, rows.map((row) => h('tr', null, row.map((cell) => h('td', null, cell)))))));
}

/**
 * empty says why nothing is here, and what to type.
 * @param {string} why
 * @param {string} [command]
 * @param {...any} more
 */
export function empty(why, command, ...more) {
  return h('div', { class: 'empty' }, h('p', null, why), command ? typed(command) : null, ...more);
}

/**
 * typed is a command line with a button that copies it.
 * @param {string} command
 */
export function typed(command) {
  return h('div', { class: 'typed' }, h('code', null, command), copier(command, 'copy'));
}

/**
 * copier copies text.
 * @param {string|(() => string|Promise<string>)} text
 * @param {string} label
 * @param {string} [name]
 */
export function copier(text, label, name) {
  const button = h('button', { type: 'button', class: 'copy', title: typeof text === 'string' ? visibleText(text) : '', 'aria-label': name || `copy ${typeof text === 'string' ? visibleText(text) : ''}` }, label);
  button.addEventListener('click', async () => {
    const what = typeof text === 'string' ? text : await text();
    try {
      await navigator.clipboard.writeText(what);
      say(`copied: ${what}`);
    } catch {
      // a browser without a clipboard: it can be marked by hand
      say(what);
    }
  });
  return button;
}

const notices = h('div', { class: 'notices', role: 'status', 'aria-live': 'polite' });

/**
 * say tells something for a while.
 * @param {string} text
 * @param {string} [kind]
 * @param {string} [hint]
 */
export function say(text, kind, hint) {
  if (!notices.isConnected) document.body.append(notices);
  while (notices.childElementCount > 3) notices.firstElementChild?.remove();
  const one = h('div', { class: 'notice ' + (kind || '') }, h('p', null, text), hint ? h('p', { class: 'hint' }, hint) : null,
    h('button', { type: 'button', class: 'plain', 'aria-label': 'dismiss', onclick: () => one.remove() }, '×'));
  notices.append(one);
  setTimeout(() => one.remove(), kind === 'wrong' ? 12000 : 6000);
}

/**
 * action is a button that does something to the network, beside one that copies the command which does the same. One that
 * asks is to be clicked twice.
 * @param {string} label
 * @param {string} command
 * @param {() => Promise<string|void>} run
 * @param {string} [kind]
 * @param {string} [asks]
 */
export function action(label, command, run, kind, asks) {
  const button = h('button', { type: 'button', class: kind || '', title: command }, label);
  button.addEventListener('click', () => {
    if (!asks || button.textContent === asks) return void busy(button, run).then(() => write(button, label));
    write(button, asks);
    setTimeout(() => write(button, label), 5000);
  });
  return h('span', { class: 'action' }, button, copier(command, '$', `copy as command: ${command}`));
}

/**
 * busy runs an order, once at a time, and tells how it ended.
 * @param {any} button
 * @param {() => Promise<string|void>} run
 */
export async function busy(button, run) {
  if (button.disabled) return;
  button.disabled = true;
  try {
    const told = await run();
    if (told) say(told);
  } catch (error) {
    const e = /** @type {any} */ (error);
    say(e.message || String(e), 'wrong', e.hint);
  } finally {
    button.disabled = false;
  }
}

/**
 * field is an input with its label.
 * @param {string} label
 * @param {Props} props
 * @param {string} [help]
 */
export function field(label, props, help) {
  const input = h(props.rows ? 'textarea' : 'input', { autocomplete: 'off', spellcheck: 'false', ...props });
  const el = h('label', { class: 'field' }, h('span', null, label), input, help ? h('small', null, help) : null);
  return { el, input };
}

/**
 * choice is a select with its label.
 * @param {string} label
 * @param {string[]} options
 * @param {string} [now]
 */
export function choice(label, options, now) {
  const input = h('select', null, options.map((o) => h('option', { value: o, selected: o === now }, o)));
  return { el: h('label', { class: 'field' }, h('span', null, label), input), input };
}

/**
 * newest tells the latest of several calls from those before it: an answer to an earlier one is dropped.
 * @returns {() => () => boolean}
 */
export function newest() {
  let latest = 0;
  return () => {
    const mine = ++latest;
    return () => mine === latest;
  };
}

/**
 * refused says what was refused, and what to do.
 * @param {any} e
 */
export function refused(e) { return h('div', { class: 'empty' }, h('p', { class: 'wrong' }, e.message), e.hint ? h('p', { class: 'dim' }, e.hint) : null); }

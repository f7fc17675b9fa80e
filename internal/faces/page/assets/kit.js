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
  return appendChildren(el, children);
}

/**
 * @param {any} el
 * @param {any[]} children
 * @returns {any}
 */
export function appendChildren(el, children) {
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    el.append(child instanceof Node ? child : visibleText(child));
  }
  return el;
}

/**
 * fillElement replaces the children.
 * @param {Element} el
 * @param {...any} children
 * @returns {any}
 */
export function fillElement(el, ...children) {
  el.replaceChildren();
  return appendChildren(el, children);
}

/**
 * writeText sets text where it differs.
 * @param {Node} el
 * @param {unknown} value
 */
export function writeText(el, value) {
  const text = visibleText(value);
  if (el.textContent !== text) el.textContent = text;
}

/**
 * @param {Element} el
 * @param {boolean} on
 */
export function showIf(el, on) { if (el.hasAttribute('hidden') === on) el.toggleAttribute('hidden', !on); }

/**
 * @param {Element} el
 * @param {string} name
 * @param {boolean} on
 */
export function markClass(el, name, on) { if (el.classList.contains(name) !== on) el.classList.toggle(name, on); }

/**
 * writeAttribute sets an attribute where it differs.
 * @param {Element} el
 * @param {string} name
 * @param {string} value
 */
export function writeAttribute(el, name, value) { if (el.getAttribute(name) !== value) el.setAttribute(name, value); }

/**
 * @param {string} href
 * @param {...any} children
 */
export function makeLink(href, ...children) { return h('a', { href }, ...children); }

/**
 * makeTerm returns a word of the page with what it means, where that is known.
 * @param {any} word
 */
export function makeTerm(word) {
  const means = typeof word === 'string' ? findMeaning(word) : '';
  return means ? h('abbr', { class: 'term', title: means, tabindex: '0' }, word) : word;
}

/**
 * makeFactList leaves out values that are empty.
 * @param {[string, any][]} pairs
 */
export function makeFactList(pairs) {
  const el = h('dl', { class: 'facts' });
  for (const [name, value] of pairs) {
    if (value === null || value === undefined || value === '' || Array.isArray(value) && !value.length) continue;
    appendChildren(el, [h('dt', null, makeTerm(name)), h('dd', null, value)]);
  }
  return el;
}

/**
 * makeAmount returns money, and the same in wei where that is another text.
 * @param {string} n
 */
export function makeAmount(n) { return formatMoney(n) === formatWei(n) ? formatWei(n) : [formatMoney(n), h('small', null, ' ', formatWei(n))]; }

/**
 * makeTextBlock returns text of several lines, as somebody wrote it.
 * @param {unknown} text
 */
export function makeTextBlock(text) {
  const el = h('pre', { tabindex: '0' });
  el.textContent = visibleText(text, true);
  return el;
}

/**
 * makeTable is for rows that stay; makeRowTable of rows.js gives them other texts.
 * @param {string[]} head
 * @param {any[][]} rows
 * @param {string} [caption]
 */
export function makeTable(head, rows, caption) {
  return h('div', { class: 'scroll', tabindex: '0' }, h('table', null, caption ? h('caption', null, caption) : null,
    h('thead', null, h('tr', null, head.map((name) => h('th', { scope: 'col' }, makeTerm(name))))),
    h('tbody', null, rows.map((row) => h('tr', null, row.map((cell) => h('td', null, cell)))))));
}

/**
 * @param {string} why
 * @param {string} [command]
 * @param {...any} more
 */
export function makeEmptyNote(why, command, ...more) {
  return h('div', { class: 'empty' }, h('p', null, why), command ? makeCommandLine(command) : null, ...more);
}

/**
 * makeCommandLine has a button that copies it.
 * @param {string} command
 */
export function makeCommandLine(command) {
  return h('div', { class: 'typed' }, h('code', null, command), makeCopyButton(command, 'copy'));
}

/**
 * @param {string|(() => string|Promise<string>)} text
 * @param {string} label
 * @param {string} [name]
 */
export function makeCopyButton(text, label, name) {
  const button = h('button', { type: 'button', class: 'copy', title: typeof text === 'string' ? visibleText(text) : '', 'aria-label': name || `copy ${typeof text === 'string' ? visibleText(text) : ''}` }, label);
  button.addEventListener('click', async () => {
    const what = typeof text === 'string' ? text : await text();
    try {
      await navigator.clipboard.writeText(what);
      showNotice(`copied: ${what}`);
    } catch {
      // a browser without a clipboard: it can be marked by hand
      showNotice(what);
    }
  });
  return button;
}

const notices = h('div', { class: 'notices', role: 'status', 'aria-live': 'polite' });

/**
 * showNotice tells something for a while.
 * @param {string} text
 * @param {string} [kind]
 * @param {string} [hint]
 */
export function showNotice(text, kind, hint) {
  if (!notices.isConnected) document.body.append(notices);
  while (notices.childElementCount > 3) notices.firstElementChild?.remove();
  const one = h('div', { class: 'notice ' + (kind || '') }, h('p', null, text), hint ? h('p', { class: 'hint' }, hint) : null,
    h('button', { type: 'button', class: 'plain', 'aria-label': 'dismiss', onclick: () => one.remove() }, '×'));
  notices.append(one);
  setTimeout(() => one.remove(), kind === 'wrong' ? 12000 : 6000);
}

/**
 * makeActionButton stands beside a button that copies the command which does the same. One that asks is to be clicked twice.
 * @param {string} label
 * @param {string} command
 * @param {() => Promise<string|void>} run
 * @param {string} [kind]
 * @param {string} [asks]
 */
export function makeActionButton(label, command, run, kind, asks) {
  const button = h('button', { type: 'button', class: kind || '', title: command }, label);
  button.addEventListener('click', () => {
    if (!asks || button.textContent === asks) return void runOrder(button, run).then(() => writeText(button, label));
    writeText(button, asks);
    setTimeout(() => writeText(button, label), 5000);
  });
  return h('span', { class: 'action' }, button, makeCopyButton(command, '$', `copy as command: ${command}`));
}

/**
 * runOrder runs an order, once at a time, and tells how it ended.
 * @param {any} button
 * @param {() => Promise<string|void>} run
 */
export async function runOrder(button, run) {
  if (button.disabled) return;
  button.disabled = true;
  try {
    const told = await run();
    if (told) showNotice(told);
  } catch (error) {
    const e = /** @type {any} */ (error);
    showNotice(e.message || String(e), 'wrong', e.hint);
  } finally {
    button.disabled = false;
  }
}

/**
 * @param {string} label
 * @param {Props} props
 * @param {string} [help]
 */
export function makeField(label, props, help) {
  const input = h(props.rows ? 'textarea' : 'input', { autocomplete: 'off', spellcheck: 'false', ...props });
  const el = h('label', { class: 'field' }, h('span', null, label), input, help ? h('small', null, help) : null);
  return { el, input };
}

/**
 * @param {string} label
 * @param {string[]} options
 * @param {string} [now]
 */
export function makeChoice(label, options, now) {
  const input = h('select', null, options.map((o) => h('option', { value: o, selected: o === now }, o)));
  return { el: h('label', { class: 'field' }, h('span', null, label), input), input };
}

/**
 * trackLatestCall tells the latest of several calls from those before it: an answer to an earlier one is dropped.
 * @returns {() => () => boolean}
 */
export function trackLatestCall() {
  let latest = 0;
  return () => {
    const mine = ++latest;
    return () => mine === latest;
  };
}

/** @param {any} e */
export function makeRefusalNote(e) { return h('div', { class: 'empty' }, h('p', { class: 'wrong' }, e.message), e.hint ? h('p', { class: 'dim' }, e.hint) : null); }

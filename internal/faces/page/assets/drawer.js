// @ts-check
// The drawer: what is selected. Each kind of thing says how it is asked for and shown.
import { command } from './api.js';
import { copier, fill, h, show } from './kit.js';
import * as names from './names.js';
import * as route from './route.js';
import * as store from './store.js';

/**
 * @typedef {{el: any, load?: (signal: AbortSignal) => Promise<void>, draw?: () => void}} Thing
 * @typedef {{word: string, json: (id: string) => string, command: (id: string) => string, make: (id: string) => Thing}} Kind
 */

/** @type {{[name: string]: Kind}} */
let kinds = {};

/** A thing is asked for again so often, while blocks are made. */
const EACH = 1500;

/** @type {any} */
let el;
/** @type {Thing|null} */
let thing = null;
let shownSel = '';
let loadedAt = 0;
let loadedHead = -1;
let loadedNames = 0;
let turn = 0;
/** @type {AbortController|null} */
let asking = null;
/** @type {any} */
let before = null;

/**
 * mount gives the drawer its place, and the kinds of things that it shows.
 * @param {any} place
 * @param {{[name: string]: Kind}} shows
 */
export function mount(place, shows) {
  el = place;
  kinds = shows;
}

/** @param {string} text */
function commandOf(text) { return text.startsWith('curl ') ? text : command(text); }

/**
 * open shows what is selected; '' closes.
 * @param {string} sel
 */
export function open(sel) {
  if (sel === shownSel && (turn === store.turns || !sel)) return;
  asking?.abort();
  asking = null;
  const opened = shownSel === '' && sel !== '';
  if (opened) before = document.activeElement;
  shownSel = sel;
  turn = store.turns;
  thing = null;
  const [name, ...rest] = sel.split(':');
  const id = rest.join(':');
  const kind = kinds[name];
  show(el, Boolean(kind && id));
  if (!kind || !id) {
    el.replaceChildren();
    if (before?.isConnected) before.focus();
    before = null;
    return;
  }
  thing = kind.make(id);
  const json = kind.json(id);
  fill(el, h('div', { class: 'head' }, h('h2', { tabindex: '-1' }, kind.word, ' ', h('span', { class: 'id' }, id)),
    h('button', { type: 'button', class: 'plain', 'aria-label': 'close', title: 'close (Esc)', onclick: () => route.select('') }, '×')),
  thing.el,
  h('p', { class: 'foot' }, json ? h('a', { href: json, target: '_blank', rel: 'noopener' }, 'open as JSON') : null, copier(commandOf(kind.command(id)), 'copy as command'),
    copier(() => location.href, 'copy link', 'copy link')));
  el.scrollTop = 0;
  loadedAt = 0;
  loadedHead = -1;
  refresh();
  if (opened && matchMedia('(max-width: 700px)').matches) el.querySelector('h2').focus();
}

/** draw draws what the beat tells, and asks for the rest now and then. */
export function draw() {
  if (!thing) return;
  if (turn !== store.turns) {
    const sel = shownSel;
    shownSel = '';
    open(sel);
    return;
  }
  thing.draw?.();
  refresh();
}

/** again asks at once: something was done to it. */
export function again() {
  loadedAt = 0;
  loadedHead = -1;
  refresh();
}

async function refresh() {
  const one = thing;
  if (!one?.load || asking || performance.now() - loadedAt < EACH || loadedHead === store.head() && loadedNames === names.version && loadedAt) return;
  asking = new AbortController();
  const mine = asking;
  loadedHead = store.head();
  loadedNames = names.version;
  try {
    await one.load(mine.signal);
  } catch (error) {
    if (!mine.signal.aborted && one === thing && !one.el.childElementCount) fill(one.el, h('p', { class: 'wrong' }, /** @type {any} */ (error).message), h('p', { class: 'dim' }, /** @type {any} */ (error).hint || ''));
  }
  if (mine === asking) asking = null;
  loadedAt = performance.now();
}

/**
 * fetched is a thing whose whole content follows from what it asks. What is open in it stays open.
 * @param {(signal: AbortSignal) => Promise<any>} ask
 * @param {(data: any) => any} make
 * @returns {Thing}
 */
export function fetched(ask, make) {
  const place = h('div', { class: 'thing' });
  let last = '';
  return {
    el: place,
    async load(signal) {
      const data = await ask(signal);
      const text = JSON.stringify(data) + names.version;
      if (signal.aborted || text === last || place.contains(document.activeElement) && document.activeElement?.matches('input, textarea, select')) return;
      last = text;
      const opened = new Set([...place.querySelectorAll('details[open] > summary')].map((s) => s.textContent));
      fill(place, make(data));
      for (const s of place.querySelectorAll('details > summary')) if (opened.has(s.textContent)) s.parentElement.open = true;
    },
  };
}

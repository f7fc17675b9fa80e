// @ts-check
// The drawer: what is selected. Each kind of thing says how it is asked for and shown.
import { devnetCommand } from './api.js';
import { writeAttribute, makeCopyButton, fillElement, h, showIf } from './kit.js';
import { momentOf, makePresentNote } from './moment.js';
import { makeShareLink } from './origin.js';
import * as names from './names.js';
import * as route from './route.js';
import * as store from './store.js';

/**
 * @typedef {{el: any, load?: (signal: AbortSignal) => Promise<void>, draw?: () => void}} Thing
 * @typedef {{word: string, json: (id: string) => string, command: (id: string) => string, make: (id: string) => Thing, present?: string}} Kind
 */

/** @type {{[name: string]: Kind}} */
let kinds = {};

/** A thing is asked for again so often, while blocks are made. */
const RELOAD_MS = 1500;

/** @type {any} */
let el;
/** @type {Thing|null} */
let thing = null;
/** @type {ReturnType<typeof makePresentNote>|null} */
let note = null;
let shownSel = '';
/** The moment that the thing is shown at; '': now. */
let shownAt = '';
let loadedAt = 0;
let loadedHead = -1;
let isLoaded = false;
let shownReset = 0;
/** @type {AbortController|null} */
let request = null;
/** @type {any} */
let lastFocus = null;

/**
 * mountIn gives the drawer its place, and the kinds of things that it shows.
 * @param {any} place
 * @param {{[name: string]: Kind}} shows
 */
export function mountIn(place, shows) {
  el = place;
  kinds = shows;
}

/** @param {string} text */
function commandOrCurl(text) { return text.startsWith('curl ') ? text : devnetCommand(text); }

/**
 * openThing closes the drawer where nothing is selected.
 * @param {string} sel
 */
export function openThing(sel) {
  const at = momentOf();
  if (sel === shownSel && at === shownAt && (shownReset === store.resetCount || !sel)) return;
  shownAt = at;
  request?.abort();
  request = null;
  const isOpening = shownSel === '' && sel !== '';
  if (isOpening) lastFocus = document.activeElement;
  shownSel = sel;
  shownReset = store.resetCount;
  thing = note = null;
  const [name, ...rest] = sel.split(':');
  const id = rest.join(':');
  const kind = kinds[name];
  showIf(el, Boolean(kind && id));
  if (!kind || !id) {
    el.replaceChildren();
    writeAttribute(el, 'aria-busy', 'false');
    if (lastFocus?.isConnected) lastFocus.focus();
    lastFocus = null;
    return;
  }
  thing = kind.make(id);
  const json = kind.json(id);
  note = kind.present ? makePresentNote(kind.present) : null;
  fillElement(el, h('div', { class: 'head' }, h('h2', { tabindex: '-1' }, kind.word, ' ', h('span', { class: 'id' }, id)),
    h('button', { type: 'button', class: 'plain', 'aria-label': 'close', title: 'close (Esc)', onclick: () => route.selectThing('') }, '×')),
  note && note.el, thing.el,
  h('p', { class: 'foot' }, json ? h('a', { href: json, target: '_blank', rel: 'noopener' }, 'open as JSON') : null, makeCopyButton(commandOrCurl(kind.command(id)), 'copy as command'),
    makeCopyButton(makeShareLink, 'copy link', 'copy link')));
  el.scrollTop = 0;
  loadedAt = 0;
  loadedHead = -1;
  isLoaded = !thing.load;
  loadIfStale();
  // until it is drawn
  writeAttribute(el, 'aria-busy', 'true');
  if (isOpening && matchMedia('(max-width: 700px)').matches) el.querySelector('h2').focus();
}

/** drawThing draws what the beat tells, and asks for the rest now and then. */
export function drawThing() {
  if (!thing) return;
  // a link's moment is past once the latest block is known
  if (shownReset !== store.resetCount || momentOf() !== shownAt) {
    const sel = shownSel;
    shownSel = '';
    openThing(sel);
    return;
  }
  note?.draw(route.readRoute());
  thing.draw?.();
  writeAttribute(el, 'aria-busy', String(!isLoaded || !store.latestBeat));
  loadIfStale();
}

/** reloadThing asks at once: something was done to it. An answer from before that is not waited for. */
export function reloadThing() {
  request?.abort();
  request = null;
  loadedAt = 0;
  loadedHead = -1;
  loadIfStale();
}

async function loadIfStale() {
  const one = thing;
  if (!one?.load || request || loadedAt && loadedHead === store.headHeight() || shownAt && loadedHead > 0) return;
  const rest = loadedAt && loadedAt + RELOAD_MS - performance.now();
  if (rest > 0) return store.drawLater(rest);
  const own = request = new AbortController();
  loadedHead = store.headHeight();
  let wrong = null;
  try {
    await one.load(own.signal);
  } catch (error) { wrong = /** @type {any} */ (error); }
  // something else is open, or it was asked again
  if (own !== request) return;
  if (wrong && !one.el.childElementCount) fillElement(one.el, h('p', { class: 'wrong' }, wrong.message), h('p', { class: 'dim' }, wrong.hint || ''));
  request = null;
  loadedAt = performance.now();
  isLoaded = true;
  if (wrong && shownAt) loadedHead = 0;
  store.drawSoon();
}

/**
 * makeThingFromAnswer is for a thing whose content follows from one answer, and from who has which name. What is open in it stays open.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} ask
 * @param {(data: T) => any} make
 * @returns {Thing}
 */
export function makeThingFromAnswer(ask, make) {
  const place = h('div', { class: 'thing' });
  /** @type {{data: T, text: string}|null} */
  let answer = null;
  let drawn = '';
  function draw() {
    if (!answer || !store.latestBeat) return;
    const next = answer.text + names.versionText();
    if (next === drawn || place.contains(document.activeElement) && document.activeElement?.matches('input, textarea, select')) return;
    drawn = next;
    const opened = new Set([...place.querySelectorAll('details[open] > summary')].map((s) => s.textContent));
    fillElement(place, make(answer.data));
    for (const s of place.querySelectorAll('details > summary')) if (opened.has(s.textContent)) s.parentElement.open = true;
  }
  return {
    el: place,
    draw,
    async load(signal) {
      const data = await ask(signal);
      if (signal.aborted) return;
      answer = { data, text: JSON.stringify(data) };
      draw();
    },
  };
}

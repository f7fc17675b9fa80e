// @ts-check
// Search: hits while one types, of one question to the network, and of the words that the page itself shows.
import { get } from './api.js';
import { formatCount } from './format.js';
import { writeAttribute, fillElement, h, trackLatestCall, showNotice, showIf } from './kit.js';
import * as names from './names.js';
import * as route from './route.js';
import { CAUSES, REASONS } from './words.js';

/** PAUSE_MS is how long a reader pauses before what was typed is asked for. */
const PAUSE_MS = 150;

/** @typedef {{kind: string, text: string, href: string}} Hit */

export function makeSearchBox() {
  const trackCall = trackLatestCall();
  // of fields for names elsewhere
  const nameList = h('datalist', { id: 'known' });
  const input = h('input', { type: 'search', placeholder: 'height, hash, name, handler, view 17', 'aria-label': 'search', maxlength: 200, autocomplete: 'off', spellcheck: 'false', role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'hits' });
  const list = h('ul', { class: 'hits', id: 'hits', role: 'listbox', hidden: true });
  const el = h('form', { class: 'search', role: 'search' }, input, list, nameList);
  let hitIndex = -1;
  let inputTimer = 0;

  /** @param {boolean} on */
  function showHits(on) {
    showIf(list, on);
    writeAttribute(input, 'aria-expanded', String(on));
    if (!on) hitIndex = -1;
  }

  /** @param {number} n */
  function highlightHit(n) {
    const links = [...list.querySelectorAll('a')];
    hitIndex = links.length ? (n + links.length) % links.length : -1;
    links.forEach((a, i) => writeAttribute(a, 'aria-selected', String(i === hitIndex)));
    links[hitIndex]?.scrollIntoView({ block: 'nearest' });
  }

  /** @param {string} to */
  function followHit(to) {
    // no answer opens the list again
    trackCall();
    location.hash = to;
    input.value = '';
    showHits(false);
    input.blur();
  }

  async function suggestHits() {
    const latest = trackCall();
    const text = input.value.trim();
    if (!text) return showHits(false);
    const { hits, cut } = await findHits(text).catch((e) => ({ hits: [], cut: false, wrong: e }));
    if (!latest() || document.activeElement !== input) return undefined;
    fillElement(list, hits.map((hit) => h('li', { role: 'presentation' }, h('a', { href: hit.href, role: 'option', 'aria-selected': 'false', tabindex: '-1', onclick: (/** @type {Event} */ e) => { e.preventDefault(); followHit(hit.href); } }, h('span', null, hit.text), h('small', null, hit.kind)))),
      cut ? h('li', { class: 'dim' }, 'There are more: type more of it.') : null, hits.length ? null : h('li', { class: 'dim' }, `Nothing is called ${text}.`));
    hitIndex = -1;
    return showHits(true);
  }

  input.addEventListener('focus', () => nameList.replaceChildren(...names.listNames().slice(0, 300).map((k) => h('option', { value: k.name }, k.kind))));
  input.addEventListener('input', () => {
    clearTimeout(inputTimer);
    inputTimer = setTimeout(suggestHits, PAUSE_MS);
  });
  // a click on a hit comes first
  input.addEventListener('blur', () => setTimeout(() => showHits(false), 200));
  input.addEventListener('keydown', (/** @type {KeyboardEvent} */ e) => {
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault();
      highlightHit(hitIndex + (e.key === 'ArrowDown' ? 1 : -1));
    }
  });
  el.addEventListener('submit', async (/** @type {Event} */ e) => {
    e.preventDefault();
    clearTimeout(inputTimer);
    const text = input.value.trim();
    const link = /** @type {any} */ (list.querySelectorAll('a')[hitIndex]);
    if (link && !list.hasAttribute('hidden')) return followHit(link.getAttribute('href'));
    if (!text) return undefined;
    const [latest, place] = [trackCall(), location.hash];
    const found = await findHits(text).catch((wrong) => ({ hits: [], wrong }));
    // the reader is elsewhere
    if (!latest() || location.hash !== place) return undefined;
    if (found.hits.length) return followHit(found.hits[0].href);
    const wrong = /** @type {any} */ (found).wrong;
    return showNotice(wrong ? wrong.message : `nothing is called ${text}`, 'wrong', wrong ? wrong.hint : 'Give a height, at least four digits of a hash, a part of a name or of a handler, view 17, or a cause such as too few votes.');
  });
  return { el, focus: () => { input.focus(); input.select(); } };
}

/**
 * @param {string} text
 * @returns {Promise<{hits: Hit[], cut: boolean}>}
 */
async function findHits(text) {
  const cause = /^cause:([a-z_]*)$/.exec(text);
  if (cause) return { hits: [{ kind: 'cause', text, href: route.viewHref('views', { q: text }) }], cut: false };
  const thing = /^(timer|job|tx|actor|runner|validator|account|block|view):(.+)$/.exec(text);
  if (thing && thing[1] !== 'block') return { hits: [{ kind: thing[1], text: thing[2], href: route.viewHref(thing[1] === 'view' ? 'views' : route.readRoute().view, { sel: text }) }], cut: false };
  const answer = await get('/find', { q: thing ? thing[2] : text });
  return { hits: [...answer.hits.map(readHit), ...findWordHits(text)], cut: answer.cut };
}

/**
 * @param {any} hit
 * @returns {Hit}
 */
function readHit(hit) {
  switch (hit.kind) {
    case 'block': return { kind: 'block', text: formatCount(hit.id), href: route.makeHref('blocks', { at: `h${hit.id}`, sel: `block:${hit.id}` }) };
    case 'view': return { kind: 'view', text: formatCount(hit.id), href: route.viewHref('views', { sel: `view:${hit.id}` }) };
    case 'handler': return { kind: 'handler', text: hit.name, href: route.viewHref('actors', { sel: `actor:${hit.id}`, q: hit.handler }) };
    default: return { kind: hit.kind === 'tx' ? 'transaction' : hit.kind, text: hit.name || hit.id, href: route.thingHref(`${hit.kind}:${hit.id}`) };
  }
}

/** The verbs of faults, which Network lists where they are in force. */
const FAULTS = ['partition', 'bridge', 'link', 'crash', 'freeze', 'misbehave'];

/**
 * findWordHits returns the places where the page shows a word.
 * @param {string} text
 * @returns {Hit[]}
 */
function findWordHits(text) {
  const word = text.toLowerCase().replaceAll('_', ' ').trim();
  if (word.length < 3) return [];
  const filterWords = (/** @type {string[]} */ all) => all.filter((w) => w.replaceAll('_', ' ').includes(word));
  return [...filterWords(Object.keys(CAUSES)).map((w) => ({ kind: 'cause of views', text: w.replaceAll('_', ' '), href: route.viewHref('views', { q: `cause:${w}` }) })),
    ...filterWords(Object.keys(REASONS)).map((w) => ({ kind: 'timers left for it', text: w, href: route.viewHref('timers', { why: w }) })),
    ...filterWords(FAULTS).map((w) => ({ kind: 'faults in force', text: w, href: route.viewHref('network') }))].slice(0, 8);
}

// @ts-check
// Search: by height, hash, name, handler, view and cause.
import { get, part } from './api.js';
import { h, newest, say } from './kit.js';
import * as names from './names.js';
import * as route from './route.js';

/** searchBox is the field in the bar. */
export function searchBox() {
  const turn = newest();
  const known = h('datalist', { id: 'known' });
  const input = h('input', { type: 'search', list: 'known', placeholder: 'height, hash, name, handler, view:17', 'aria-label': 'search', maxlength: 200, autocomplete: 'off', spellcheck: 'false' });
  const el = h('form', { class: 'search', role: 'search' }, input, known);
  input.addEventListener('focus', () => known.replaceChildren(...names.all().slice(0, 300).map((k) => h('option', { value: k.name }, k.kind))));
  el.addEventListener('submit', async (/** @type {Event} */ e) => {
    e.preventDefault();
    const text = input.value.trim();
    if (!text) return;
    const [latest, place] = [turn(), location.hash];
    const found = await find(text);
    if (!latest() || location.hash !== place) return; // the reader is elsewhere
    if (found) {
      location.hash = found;
      input.value = '';
      input.blur();
    } else {
      say(`nothing is called ${text}`, 'wrong', 'Give a height, at least four digits of a hash, a name, a handler, view:N or cause:WORD.');
    }
  });
  return { el, focus: () => { input.focus(); input.select(); } };
}

/**
 * find is the address of what a text names; '' where nothing is named so.
 * @param {string} text
 * @returns {Promise<string>}
 */
async function find(text) {
  let m;
  if ((m = /^(?:h|block:)?(\d[\d,]*)$/.exec(text))) {
    const height = Number(m[1].replaceAll(',', ''));
    return route.href('blocks', { at: `h${height}`, sel: `block:${height}` });
  }
  if ((m = /^view:(\d+)$/.exec(text))) {
    return route.there('views', { sel: text });
  }
  if ((m = /^cause:([a-z_]*)$/.exec(text))) {
    return route.there('views', { q: text });
  }
  if ((m = /^(timer|job|tx|actor|runner|validator|account|block):(.+)$/.exec(text))) {
    return route.selected(text);
  }
  const named = await byName(text);
  if (named) {
    return route.selected(`${named.kind}:${named.kind === 'validator' || named.kind === 'runner' ? named.name : named.address}`);
  }
  if (/^(0x)?[0-9a-f]{4,64}(…|\.\.\.)?[0-9a-f]*$/i.test(text)) return byHash(text.startsWith('0x') ? text : '0x' + text);
  return byHandler(text);
}

/**
 * byName is who is called by a name or an address; it asks once more where nobody known is.
 * @param {string} text
 */
async function byName(text) {
  const is = (/** @type {names.Known} */ k) => k.name.toLowerCase() === text.toLowerCase() || k.address === text.toLowerCase();
  const known = names.all().find(is);
  if (known) return known;
  await names.refresh(true);
  return names.all().find(is);
}

/**
 * byHash asks what a hash, or the beginning of one, stands for.
 * @param {string} hash
 */
async function byHash(hash) {
  /** @type {[string, string, (a: any) => string][]} */
  const ways = [[`/block/${part(hash)}`, 'block', (a) => a.height], [`/timer/${part(hash)}`, 'timer', (a) => a.id], [`/job/${part(hash)}`, 'job', (a) => a.id],
    [`/transaction/${part(hash)}/receipt`, 'tx', (a) => a.hash], [`/transaction/${part(hash)}`, 'tx', (a) => a.hash], [`/actor/${part(hash)}`, 'actor', (a) => a.address],
    [`/account/${part(hash)}`, 'account', (a) => a.address]];
  for (const [path, kind, id] of ways) {
    try {
      return route.selected(`${kind}:${id(await get(path))}`);
    } catch { /* it is something else */ }
  }
  return '';
}

/**
 * byHandler is the address of the actor that has a handler.
 * @param {string} text
 */
async function byHandler(text) {
  try {
    const actors = await get('/actors', { limit: 1000 });
    let one = actors.find((/** @type {any} */ a) => a.name === text);
    for (let i = 0; !one && i < Math.min(actors.length, 128); i += 16) { // the list has no handlers
      const some = await Promise.all(actors.slice(i, i + 16).map((/** @type {any} */ a) => get(`/actor/${part(a.address)}`).catch(() => null)));
      one = some.find((a) => a?.handlers.some((/** @type {any} */ x) => x.name === text));
    }
    return one ? route.there('actors', { sel: `actor:${one.address}`, q: one.name === text ? '' : text }) : '';
  } catch { return ''; }
}

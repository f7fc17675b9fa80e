// @ts-check
// Search: by height, hash, name, handler, view and cause.
import { get, part } from './api.js';
import { h, say } from './kit.js';
import * as names from './names.js';
import * as route from './route.js';

/** searchBox is the field in the bar. */
export function searchBox() {
  const known = h('datalist', { id: 'known' });
  const input = h('input', { type: 'search', list: 'known', placeholder: 'height, hash, name, handler, view:17', 'aria-label': 'search', maxlength: 200, autocomplete: 'off', spellcheck: 'false' });
  const el = h('form', { class: 'search', role: 'search' }, input, known);
  input.addEventListener('focus', () => known.replaceChildren(...names.all().slice(0, 300).map((k) => h('option', { value: k.name }, k.kind))));
  el.addEventListener('submit', async (/** @type {Event} */ e) => {
    e.preventDefault();
    const text = input.value.trim();
    if (!text) return;
    if (await find(text)) {
      input.value = '';
      input.blur();
    } else {
      say(`nothing is called ${text}`, 'wrong', 'Give a height, at least four digits of a hash, a name, a handler, view:N or cause:WORD.');
    }
  });
  return { el, focus: () => { input.focus(); input.select(); } };
}

/**
 * @param {string} text
 * @returns {Promise<boolean>}
 */
async function find(text) {
  let m;
  if ((m = /^(?:h|block:)?(\d[\d,]*)$/.exec(text))) {
    const height = Number(m[1].replaceAll(',', ''));
    route.go('blocks', { at: `h${height}`, sel: `block:${height}` });
    return true;
  }
  if ((m = /^view:(\d+)$/.exec(text))) {
    route.go('views', { sel: text });
    return true;
  }
  if ((m = /^cause:([a-z_]*)$/.exec(text))) {
    route.go('views', { q: text });
    return true;
  }
  if ((m = /^(timer|job|tx|actor|runner|validator|account|block):(.+)$/.exec(text))) {
    route.select(text);
    return true;
  }
  const named = await byName(text);
  if (named) {
    route.select(`${named.kind}:${named.kind === 'validator' || named.kind === 'runner' ? named.name : named.address}`);
    return true;
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
      route.select(`${kind}:${id(await get(path))}`);
      return true;
    } catch { /* it is something else */ }
  }
  return false;
}

/**
 * byHandler opens the actor that has a handler.
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
    if (!one) return false;
    route.go('actors', { sel: `actor:${one.address}`, q: one.name === text ? '' : text });
    return true;
  } catch { return false; }
}

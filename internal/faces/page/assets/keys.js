// @ts-check
// Keys. Each does what some button or link does as well.
import { h } from './kit.js';
import { along, step } from './rows.js';
import * as route from './route.js';
import * as store from './store.js';

/** @type {{places: {id: string, key: string, title: string}[], search: () => void, main: Element}} */
let page;
let going = 0;
/** @type {any} */
let dialog = null;

/** @param {typeof page} parts */
export function mount(parts) {
  page = parts;
  addEventListener('keydown', press);
}

/** @param {KeyboardEvent} e */
function press(e) {
  const target = /** @type {any} */ (e.target);
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape') {
    if (dialog?.open) return;
    if (target.matches?.('input, textarea, select')) target.blur();
    else if (route.read().sel) route.select('');
    return;
  }
  if (target.matches?.('input, textarea, select') || dialog?.open) return;
  if (going && performance.now() - going < 1500) {
    going = 0;
    const place = page.places.find((p) => p.key === e.key);
    if (place) {
      e.preventDefault();
      route.go(place.id);
    }
    return;
  }
  const does = actions[e.key];
  if (!does) return;
  e.preventDefault();
  does();
}

/** @type {{[key: string]: () => void}} */
const actions = {
  '/': () => page.search(),
  '?': () => help(),
  g: () => { going = performance.now(); },
  j: () => step(page.main, 1),
  k: () => step(page.main, -1),
  '[': () => along(page.main, -1),
  ']': () => along(page.main, 1),
  e: () => failedView(),
  t: () => tables(),
  l: () => route.set({ at: '' }),
};

/** failedView opens the failed view behind the one that is open; the latest first. */
function failedView() {
  const open = /^view:(\d+)$/.exec(route.read().sel);
  const list = store.views.last(store.SIZE).filter((v) => v.outcome === 'nullified').reverse();
  const next = list.find((v) => !open || v.view < Number(open[1])) || list[0];
  if (next) route.select(`view:${next.view}`);
}

/** tables shows each picture of the view as a table, or as a picture again. */
function tables() {
  for (const button of page.main.querySelectorAll('button.tabled')) /** @type {any} */ (button).click();
}

/** help lists the keys. */
export function help() {
  if (!dialog) {
    const rows = [['/', 'search'], ['g and a letter', page.places.map((p) => `${p.key} ${p.title}`).join(', ')], ['j k', 'next and previous row'], ['Enter', 'open the row'],
      ['[ ]', 'previous and next thing of the same table'], ['e', 'the failed view before'], ['t', 'pictures as tables'], ['l', 'follow the latest block again'],
      ['Esc', 'close'], ['?', 'these keys']];
    dialog = h('dialog', { 'aria-label': 'keys' }, h('h2', null, 'Keys'),
      h('dl', { class: 'facts' }, rows.map(([key, what]) => [h('dt', null, h('kbd', null, key)), h('dd', null, what)])),
      h('form', { method: 'dialog' }, h('button', { autofocus: true }, 'close')));
    document.body.append(dialog);
  }
  dialog.showModal();
}

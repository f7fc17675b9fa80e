// @ts-check
// Keys. Each does what some button or link does as well.
import { h } from './kit.js';
import { openNeighbour, moveFocus } from './rows.js';
import * as route from './route.js';
import * as store from './store.js';

/** LEAST_BLOCKS is how few blocks a range has. */
const LEAST_BLOCKS = 4;

/** @type {{places: {id: string, key: string, title: string}[], search: () => void, main: Element, shown: () => [number, number]}} */
let page;
let goKeyAt = 0;
/** @type {any} */
let dialog = null;

/** @param {typeof page} parts */
export function listenForKeys(parts) {
  page = parts;
  addEventListener('keydown', handleKey);
}

/** @param {KeyboardEvent} e */
function handleKey(e) {
  const target = /** @type {any} */ (e.target);
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape') {
    if (dialog?.open) return;
    if (target.matches?.('input, textarea, select')) target.blur();
    else if (route.readRoute().sel) route.selectThing('');
    else if (route.readRoute().from !== null) route.setParams({ at: '' });
    return;
  }
  if (target.matches?.('input, textarea, select') || dialog?.open) return;
  if (goKeyAt && performance.now() - goKeyAt < 1500) {
    goKeyAt = 0;
    const place = page.places.find((p) => p.key === e.key);
    if (place) {
      e.preventDefault();
      route.openView(place.id);
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
  '?': () => showHelp(),
  g: () => { goKeyAt = performance.now(); },
  j: () => moveFocus(page.main, 1),
  k: () => moveFocus(page.main, -1),
  '[': () => openNeighbour(page.main, -1),
  ']': () => openNeighbour(page.main, 1),
  e: () => openFailedView(),
  t: () => toggleTables(),
  l: () => route.setParams({ at: '' }),
  ',': () => moveMoment(-1),
  '.': () => moveMoment(1),
  w: () => zoomRange(0.5),
  s: () => zoomRange(2),
  a: () => panRange(-1),
  d: () => panRange(1),
};

/** openFailedView opens the failed view behind the one that is open; the latest first. */
function openFailedView() {
  const open = /^view:(\d+)$/.exec(route.readRoute().sel);
  const list = store.views.last(store.RING_SIZE).filter((v) => v.outcome === 'nullified').reverse();
  const next = list.find((v) => !open || v.view < Number(open[1])) || list[0];
  if (next) route.selectThing(`view:${next.view}`);
}

/**
 * moveMoment goes so many blocks on from the one that is looked at; behind the latest it follows again.
 * @param {number} by
 */
function moveMoment(by) {
  const head = store.headHeight();
  if (!head) return;
  const to = (route.readRoute().at ?? head) + by;
  route.setParams({ at: to > head ? '' : `h${Math.max(1, to)}` }, true);
}

/** rangeInSight is that of the time bar, unless another was chosen. */
function rangeInSight() {
  const { from, at } = route.readRoute();
  return from !== null && at !== null ? [from, at] : page.shown();
}

/**
 * chooseRange takes only heights that exist.
 * @param {number} from
 * @param {number} to
 */
function chooseRange(from, to) {
  const head = store.headHeight();
  const many = Math.min(to - from + 1, store.RING_SIZE, head);
  const end = Math.min(head, Math.max(to, many));
  if (head) route.setParams({ from: end - many + 1, to: end }, true);
}

/**
 * zoomRange makes the range so many times as long. One that ends with the latest block still does.
 * @param {number} by
 */
function zoomRange(by) {
  const [from, to] = rangeInSight();
  const many = Math.max(LEAST_BLOCKS, Math.round((to - from + 1) * by));
  const end = to >= store.headHeight() ? to : Math.round((from + to + many - 1) / 2);
  chooseRange(end - many + 1, end);
}

/**
 * panRange moves the range by a quarter of its length.
 * @param {number} by
 */
function panRange(by) {
  const [from, to] = rangeInSight();
  const step = by * Math.max(1, Math.round((to - from + 1) / 4));
  chooseRange(from + step, to + step);
}

function toggleTables() {
  for (const button of page.main.querySelectorAll('button.tabled')) /** @type {any} */ (button).click();
}

export function showHelp() {
  if (!dialog) {
    const rows = [['/', 'search'], ['g and a letter', page.places.map((p) => `${p.key} ${p.title}`).join(', ')], ['j k', 'next and previous row'], ['Enter', 'open the row'],
      ['[ ]', 'previous and next thing of the same table'], ['e', 'the failed view before'], ['t', 'pictures as tables'],
      [', .', 'the block before, the block behind'], ['w s', 'fewer blocks, more blocks'], ['a d', 'earlier blocks, later blocks'], ['l', 'follow the latest block again'],
      ['Esc', 'close, or leave the range'], ['?', 'these keys']];
    dialog = h('dialog', { 'aria-label': 'keys' }, h('h2', null, 'Keys'),
      h('dl', { class: 'facts' }, rows.map(([key, what]) => [h('dt', null, h('kbd', null, key)), h('dd', null, what)])),
      h('form', { method: 'dialog' }, h('button', { autofocus: true }, 'close')));
    document.body.append(dialog);
  }
  dialog.showModal();
}

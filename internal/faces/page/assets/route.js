// @ts-check
// Where the page is. All of it stands in the address behind #, so that a link is the whole state:
// #/view?at=h120&sel=block:118&q=…. A copied link has of=118.4f5e6a7b besides, which says of what chain it is (origin.js).

/**
 * A route's moment is `at`, or the end of its range. It has a range where `from` is a number.
 * @typedef {{view: string, at: number|null, from: number|null, sel: string, params: {[name: string]: string}}} Route
 */

/** @type {Set<(route: Route) => void>} */
const listeners = new Set();

/**
 * @param {string} [hash]
 * @returns {Route}
 */
export function readRoute(hash = location.hash) {
  const [path, search] = hash.replace(/^#\/?/, '').split('?', 2);
  /** @type {{[name: string]: string}} */
  const params = {};
  for (const [name, value] of new URLSearchParams(search || '')) params[name] = value;
  const at = /^h(\d{1,15})$/.exec(params.at || '');
  const height = (/** @type {string|undefined} */ text) => (/^\d{1,15}$/.test(text || '') ? Number(text) : null);
  const [from, to] = [height(params.from), height(params.to)];
  const range = from !== null && to !== null && from <= to && !at;
  return { view: path || 'network', at: at ? Number(at[1]) : range ? to : null, from: range ? from : null, sel: params.sel || '', params };
}

/**
 * @param {string} view
 * @param {{[name: string]: any}} [params]
 */
export function makeHref(view, params = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  // What needs no escape behind # stays readable.
  const text = search.toString().replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%40', '@');
  return `#/${view}${text ? '?' + text : ''}`;
}

/**
 * hrefWith changes some parameters of the route; empty ones are taken away. A moment ends a range, and a range ends a moment.
 * @param {{[name: string]: any}} changes
 */
export function hrefWith(changes) {
  const now = readRoute();
  const other = 'at' in changes ? { from: '', to: '' } : 'from' in changes ? { at: '' } : {};
  return makeHref(now.view, { ...now.params, ...other, ...changes });
}

/** momentParams say which moment or range is looked at. */
export function momentParams() {
  const { at, from, to } = readRoute().params;
  return { at, from, to };
}

/**
 * setParams is undone by the browser's back.
 * @param {{[name: string]: any}} changes
 * @param {boolean} [quietly] in place of what is there
 */
export function setParams(changes, quietly = false) {
  const to = hrefWith(changes);
  if (to === location.hash) return;
  if (quietly) {
    history.replaceState(null, '', to);
    callListeners();
  } else {
    location.hash = to;
  }
}

/**
 * selectThing opens what is named in the drawer; '' closes it.
 * @param {string} sel
 */
export function selectThing(sel) { setParams({ sel }); }

/**
 * thingHref is the address at which something is selected, in the view that is shown.
 * @param {string} sel
 */
export function thingHref(sel) { return hrefWith({ sel }); }

/**
 * viewHref is the address of a view at the moment that is looked at.
 * @param {string} view
 * @param {{[name: string]: any}} [params]
 */
export function viewHref(view, params = {}) { return makeHref(view, { ...momentParams(), ...params }); }

/**
 * openView keeps the moment.
 * @param {string} view
 * @param {{[name: string]: any}} [params]
 */
export function openView(view, params = {}) { location.hash = viewHref(view, params); }

/**
 * replaceView leaves no entry in the browser's history.
 * @param {string} view
 */
export function replaceView(view) {
  history.replaceState(null, '', makeHref(view));
  callListeners();
}

/**
 * listenToRoutes calls each with the route now, and with each that follows.
 * @param {(route: Route) => void} each
 */
export function listenToRoutes(each) {
  listeners.add(each);
  each(readRoute());
}

function callListeners() {
  const now = readRoute();
  for (const each of listeners) each(now);
}

addEventListener('hashchange', callListeners);

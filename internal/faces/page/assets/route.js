// @ts-check
// Where the page is. All of it stands in the address behind #, so that a link is the whole state:
// #/view?at=h120&sel=block:118&q=…. A copied link has of=118.4f5e6a7b besides, which says of what chain it is (origin.js).

/**
 * A route's moment is `at`, or the end of its range. It has a range where `from` is a number.
 * @typedef {{view: string, at: number|null, from: number|null, sel: string, params: {[name: string]: string}}} Route
 */

/** @type {Set<(route: Route) => void>} */
const heard = new Set();

/**
 * read is the route of an address.
 * @param {string} [hash]
 * @returns {Route}
 */
export function read(hash = location.hash) {
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
 * href is the address of a route.
 * @param {string} view
 * @param {{[name: string]: any}} [params]
 */
export function href(view, params = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  // What needs no escape behind # stays readable.
  const text = search.toString().replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%40', '@');
  return `#/${view}${text ? '?' + text : ''}`;
}

/**
 * changed is the route as it is, with some parameters changed; empty ones are taken away. A moment ends a
 * range, and a range ends a moment.
 * @param {{[name: string]: any}} changes
 */
export function changed(changes) {
  const now = read();
  const other = 'at' in changes ? { from: '', to: '' } : 'from' in changes ? { at: '' } : {};
  return href(now.view, { ...now.params, ...other, ...changes });
}

/** moment are the parameters that say which moment or range is looked at. */
export function moment() {
  const { at, from, to } = read().params;
  return { at, from, to };
}

/**
 * set changes parameters; back undoes it.
 * @param {{[name: string]: any}} changes
 * @param {boolean} [quietly] in place of what is there
 */
export function set(changes, quietly = false) {
  const to = changed(changes);
  if (to === location.hash) return;
  if (quietly) {
    history.replaceState(null, '', to);
    tell();
  } else {
    location.hash = to;
  }
}

/**
 * select opens what is named in the drawer, or closes it.
 * @param {string} sel
 */
export function select(sel) { set({ sel }); }

/**
 * selected is the address at which something is selected, in the view that is shown.
 * @param {string} sel
 */
export function selected(sel) { return changed({ sel }); }

/**
 * there is the address of a view at the moment that is looked at.
 * @param {string} view
 * @param {{[name: string]: any}} [params]
 */
export function there(view, params = {}) { return href(view, { ...moment(), ...params }); }

/**
 * go shows a view; the moment stays.
 * @param {string} view
 * @param {{[name: string]: any}} [params]
 */
export function go(view, params = {}) { location.hash = there(view, params); }

/**
 * replace shows a view in place of what is shown.
 * @param {string} view
 */
export function replace(view) {
  history.replaceState(null, '', href(view));
  tell();
}

/**
 * listen calls each with the route now, and with each that follows.
 * @param {(route: Route) => void} each
 */
export function listen(each) {
  heard.add(each);
  each(read());
}

function tell() {
  const now = read();
  for (const each of heard) each(now);
}

addEventListener('hashchange', tell);

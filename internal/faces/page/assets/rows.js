// @ts-check
// Tables of rows that get other texts, and the link to older ones. Rows are made where a list is longer than all before.
import { formatCount } from './format.js';
import { writeAttribute, h, markClass, showIf, makeTerm, writeText } from './kit.js';
import { hrefWith, readRoute } from './route.js';

/** MOST_ROWS is how many rows a list has at most: what one answer of the API has. */
const MOST_ROWS = 1000;

/**
 * wantedRows is how many rows an address asks for.
 * @param {{[name: string]: string}} params
 * @param {number} least
 */
export function wantedRows(params, least) {
  const rows = Number(params.rows);
  return Number.isSafeInteger(rows) ? Math.min(Math.max(rows, least), MOST_ROWS) : least;
}

/**
 * makeOlderLink leads to more rows of a list, where there are more.
 * @param {string} what
 * @param {number} size
 */
export function makeOlderLink(what, size) {
  const link = h('a', { href: '#' }, 'older');
  const note = h('span', { class: 'dim' });
  const el = h('p', { class: 'older', hidden: true }, link, ' ', note);
  /**
   * set says how many rows are shown, and whether there are more.
   * @param {number} shown
   * @param {boolean} more
   * @param {string} [why] there may be more that no link leads to
   */
  function set(shown, more, why = '') {
    showIf(el, more || Boolean(why));
    if (!more && !why) return;
    showIf(link, more && shown < MOST_ROWS);
    if (!more) return void writeText(note, why);
    writeAttribute(link, 'href', hrefWith({ rows: String(Math.min(shown + 4 * size, MOST_ROWS)) }));
    writeText(note, shown < MOST_ROWS ? `${formatCount(shown)} ${what} are shown, and there are more` : `only ${formatCount(MOST_ROWS)} ${what} are shown`);
  }
  return { el, set };
}

/**
 * @template T
 * @typedef {{name: string, text: (row: T) => unknown, kind?: string, main?: boolean, tone?: (row: T) => string, title?: (row: T) => string}} Column
 */

/**
 * makeRowTable has so many rows at first. The first column leads to the row's place.
 * @template T
 * @param {{label: string, size: number, columns: Column<T>[], href?: (row: T) => string, sel?: (row: T) => string}} options
 */
export function makeRowTable({ label, size, columns, href, sel }) {
  const head = h('tr', null, columns.map((c) => h('th', { scope: 'col', class: `${c.kind || ''} ${c.main ? '' : 'wide'}` }, makeTerm(c.name))));
  /** @type {{tr: any, cells: any[], link: any}[]} */
  const rows = [];
  const body = h('tbody');
  const addRow = () => {
    const link = href ? h('a', { href: '#' }) : null;
    const cells = columns.map((c, n) => h(n === 0 ? 'th' : 'td', { class: `${c.kind || ''} ${c.main ? '' : 'wide'}`, scope: n === 0 ? 'row' : null }, n === 0 && link));
    const tr = h('tr', { hidden: true }, cells);
    if (link) tr.addEventListener('click', (/** @type {any} */ e) => { if (!(e.target.closest('a, button'))) link.click(); });
    rows.push({ tr, cells, link });
    body.append(tr);
  };
  while (rows.length < size) addRow();
  const el = h('div', { class: 'scroll' }, h('table', { class: 'pool', 'aria-label': label }, h('thead', null, head), body));
  /**
   * set shows rows, MOST_ROWS at most.
   * @param {T[]} list
   * @param {string} [selected]
   */
  function set(list, selected = '') {
    while (rows.length < Math.min(list.length, MOST_ROWS)) addRow();
    for (let i = 0; i < rows.length; i++) {
      const { tr, cells, link } = rows[i];
      const row = list[i];
      showIf(tr, row !== undefined);
      if (row === undefined) continue;
      columns.forEach((c, n) => {
        writeText(n === 0 && link ? link : cells[n], c.text(row));
        if (c.tone) writeAttribute(cells[n], 'data-tone', c.tone(row) || '');
        if (c.title) writeAttribute(cells[n], 'title', c.title(row));
      });
      if (link && href) writeAttribute(link, 'href', href(row));
      if (sel) {
        const is = selected !== '' && sel(row) === selected;
        markClass(tr, 'selected', is);
        if (link) { if (is) writeAttribute(link, 'aria-current', 'true'); else link.removeAttribute('aria-current'); }
      }
    }
  }
  return { el, set };
}

/**
 * moveFocus goes among the links of the table that is shown.
 * @param {Element} within
 * @param {number} by
 */
export function moveFocus(within, by) {
  const links = [...within.querySelectorAll('table.pool tbody tr:not([hidden]) > th a')].filter((a) => /** @type {any} */ (a).offsetParent);
  if (!links.length) return;
  const row = document.activeElement?.closest('tr');
  const at = row ? links.findIndex((a) => a.closest('tr') === row) : -1;
  const to = at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by));
  /** @type {any} */ (links[to]).focus();
}

/**
 * openNeighbour opens the thing behind or before the one that is open, of the same table.
 * @param {Element} within
 * @param {number} by
 */
export function openNeighbour(within, by) {
  const links = [...within.querySelectorAll('table.pool tbody tr:not([hidden]) > th a')].filter((a) => /** @type {any} */ (a).offsetParent);
  // the address is ahead of what is drawn
  const open = readRoute().sel;
  const at = links.findIndex((a) => open && readRoute(a.getAttribute('href') || '').sel === open);
  const to = links[at < 0 ? 0 : at + by];
  if (to) /** @type {any} */ (to).click();
}

// @ts-check
// Tables with a fixed number of rows. None is made after the start: rows get other texts.
import { attr, h, mark, show, write } from './kit.js';
import { read } from './route.js';

/**
 * @template T
 * @typedef {{name: string, text: (row: T) => unknown, kind?: string, main?: boolean, tone?: (row: T) => string, title?: (row: T) => string}} Column
 */

/**
 * pool makes a table of so many rows. The first column leads to the row's place.
 * @template T
 * @param {{label: string, size: number, columns: Column<T>[], href?: (row: T) => string, sel?: (row: T) => string}} options
 */
export function pool({ label, size, columns, href, sel }) {
  const head = h('tr', null, columns.map((c) => h('th', { scope: 'col', class: `${c.kind || ''} ${c.main ? '' : 'wide'}` }, c.name)));
  /** @type {{tr: any, cells: any[], link: any}[]} */
  const rows = [];
  const body = h('tbody');
  for (let i = 0; i < size; i++) {
    const link = href ? h('a', { href: '#' }) : null;
    const cells = columns.map((c, n) => h(n === 0 ? 'th' : 'td', { class: `${c.kind || ''} ${c.main ? '' : 'wide'}`, scope: n === 0 ? 'row' : null }, n === 0 && link));
    const tr = h('tr', { hidden: true }, cells);
    if (link) tr.addEventListener('click', (/** @type {any} */ e) => { if (!(e.target.closest('a, button'))) link.click(); });
    rows.push({ tr, cells, link });
    body.append(tr);
  }
  const el = h('div', { class: 'scroll' }, h('table', { class: 'pool', 'aria-label': label }, h('thead', null, head), body));
  /**
   * set shows rows; those that have no place are left out.
   * @param {T[]} list
   * @param {string} [selected]
   */
  function set(list, selected = '') {
    for (let i = 0; i < size; i++) {
      const { tr, cells, link } = rows[i];
      const row = list[i];
      show(tr, row !== undefined);
      if (row === undefined) continue;
      columns.forEach((c, n) => {
        write(n === 0 && link ? link : cells[n], c.text(row));
        if (c.tone) attr(cells[n], 'data-tone', c.tone(row) || '');
        if (c.title) attr(cells[n], 'title', c.title(row));
      });
      if (link && href) attr(link, 'href', href(row));
      if (sel) {
        const is = selected !== '' && sel(row) === selected;
        mark(tr, 'selected', is);
        if (link) { if (is) attr(link, 'aria-current', 'true'); else link.removeAttribute('aria-current'); }
      }
    }
  }
  return { el, set };
}

/**
 * step moves the focus among the links of the table that is shown.
 * @param {Element} within
 * @param {number} by
 */
export function step(within, by) {
  const links = [...within.querySelectorAll('table.pool tbody tr:not([hidden]) > th a')].filter((a) => /** @type {any} */ (a).offsetParent);
  if (!links.length) return;
  const row = document.activeElement?.closest('tr');
  const at = row ? links.findIndex((a) => a.closest('tr') === row) : -1;
  const to = at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by));
  /** @type {any} */ (links[to]).focus();
}

/**
 * along opens the thing behind or before the one that is open, of the same table.
 * @param {Element} within
 * @param {number} by
 */
export function along(within, by) {
  const links = [...within.querySelectorAll('table.pool tbody tr:not([hidden]) > th a')].filter((a) => /** @type {any} */ (a).offsetParent);
  const open = read().sel; // the address is ahead of what is drawn
  const at = links.findIndex((a) => open && read(a.getAttribute('href') || '').sel === open);
  const to = links[at < 0 ? 0 : at + by];
  if (to) /** @type {any} */ (to).click();
}

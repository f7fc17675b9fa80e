// @ts-check
// Transactions: what the latest blocks executed, and one of it: trace, fee to the wei.
import { devnetCommand } from '../api.js';
import { formatCount, formatMoney, formatPlural, shortenID } from '../format.js';
import { writeAttribute, makeEmptyNote, fillElement, h, makeRefusalNote, showIf, writeText } from '../kit.js';
import { nameOf } from '../names.js';
import { makePoll } from '../poll.js';
import { MOST_BLOCKS, fetchReceipts } from '../executions.js';
import { makeOlderLink, makeRowTable, wantedRows } from '../rows.js';
import * as route from '../route.js';
import * as store from '../store.js';

export const txs = { id: 'txs', title: 'Transactions', key: 'x', make: makeTxsView };

const ROWS = 60;
const KINDS = ['', 'transaction', 'timer', 'message'];

function makeTxsView() {
  const kinds = h('span', { class: 'choices', role: 'group', 'aria-label': 'kinds' }, KINDS.map((s) => h('a', { href: '#', 'data-kind': s }, s ? { transaction: 'transactions', timer: 'fires', message: 'messages' }[s] : 'all')));
  const bad = h('a', { href: '#' }, 'failed only');
  const none = h('div');
  const table = makeRowTable({
    label: 'executions', size: ROWS, href: (r) => route.thingHref(`${r.origin === 'timer' ? 'timer' : 'tx'}:${r.hash}`), sel: (r) => `${r.origin === 'timer' ? 'timer' : 'tx'}:${r.hash}`, columns: [
      { name: 'hash', text: (r) => shortenID(r.hash), main: true },
      { name: 'block', kind: 'num', text: (r) => formatCount(r.height) },
      { name: 'what', text: (r) => ({ transaction: 'transaction', timer: 'fire', message: 'message' }[/** @type {string} */ (r.origin)] || r.origin) },
      { name: 'sender', text: (r) => nameOf(r.sender) },
      { name: 'to', text: (r) => nameOf(r.to) + (r.handler ? '.' + r.handler : ''), main: true },
      { name: 'status', text: (r) => r.status, main: true, tone: (r) => (r.status === 'ok' ? 'good' : 'bad') },
      { name: 'cycles', kind: 'num', text: (r) => formatCount(r.cycles) },
      { name: 'cells', kind: 'num', text: (r) => formatCount(r.cells) },
      { name: 'fee', kind: 'num', text: (r) => formatMoney(r.fee) },
      { name: 'why', text: (r) => (r.error ? `${r.error.code}: ${r.error.message}` : '') },
    ] });
  const older = makeOlderLink('executions', ROWS);
  const [unseen, further] = [h('span', { class: 'dim' }), h('a', { href: '#' })];
  const rest = h('p', { class: 'older', hidden: true }, unseen, further);
  const el = h('div', { class: 'cards' }, h('section', { class: 'card whole' }, h('div', { class: 'bar' }, h('h2', null, 'Executions'), kinds, bad), table.el, older.el, rest, none));
  const pollList = makePoll({ each: 700, els: [table.el, older.el, rest, none], of: ({ at, from, params }) => ({ at, from, rows: wantedRows(params, ROWS), ...executionFilter(params) }), ask: async ({ at, from, rows, kind, failed }, signal) => {
    const to = Math.min(at ?? store.headHeight(), store.headHeight());
    await store.waitForRows('blocks', 2000, to);
    const busy = store.rowsFromHeight(store.blocks.last(2000, to), from, (b) => b.height).filter((b) => b.txs || b.fired || b.cycles).slice(-MOST_BLOCKS).reverse();
    /** @type {any[]} */
    const found = [];
    let back = 0;
    for (const b of busy) {
      found.push(...(await fetchReceipts(b.height, signal)).filter((x) => (!kind || x.origin === kind) && (!failed || x.status !== 'ok')));
      back = b.height;
      if (found.length > rows) break;
    }
    const least = from ?? 1;
    const first = store.blocks.last(2000, to)[0]?.height ?? least;
    const lowest = found.length > rows ? 0 : busy.length === MOST_BLOCKS ? back : first;
    return { found, rows, back, before: found.length <= rows && lowest > least ? lowest : 0 };
  }, take: ({ found, rows, back, before }, r) => {
    table.set(found.slice(0, rows), r.sel);
    older.set(rows, found.length > rows);
    showIf(rest, before > 0);
    writeAttribute(further, 'href', route.hrefWith({ at: `h${before - 1}` }));
    writeText(further, `look from block ${formatCount(before - 1)} down`);
    writeText(unseen, `${formatPlural(found.length, 'execution')} from block ${formatCount(before)} on. Those before are not looked at: `);
    showIf(none, !found.length);
    if (!found.length) fillElement(none, back ? makeEmptyNote(`No execution from block ${formatCount(back)} on is like that.`) : makeEmptyNote('Nothing was executed in the latest 2,000 blocks. Send something:', devnetCommand('transfer bob 5')));
  }, fail: (e) => {
    table.set([]);
    showIf(rest, false);
    older.set(0, false);
    showIf(none, true);
    fillElement(none, makeRefusalNote(e));
  } });
  return {
    el,
    /** @param {route.Route} r */
    draw(r) {
      for (const a of kinds.children) {
        const s = a.getAttribute('data-kind') || '';
        writeAttribute(a, 'href', route.hrefWith({ kind: s }));
        if (s === (r.params.kind || '')) writeAttribute(a, 'aria-current', 'true'); else a.removeAttribute('aria-current');
      }
      writeAttribute(bad, 'href', route.hrefWith({ failed: r.params.failed === '1' ? '' : '1' }));
      if (r.params.failed === '1') writeAttribute(bad, 'aria-current', 'true'); else bad.removeAttribute('aria-current');
      pollList(r);
    },
  };
}

/**
 * executionFilter are the executions that an address asks for.
 * @param {{[name: string]: string}} params
 */
function executionFilter(params) {
  return { kind: KINDS.includes(params.kind || '') ? params.kind || '' : '', failed: params.failed === '1' };
}

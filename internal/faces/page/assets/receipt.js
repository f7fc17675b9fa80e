// @ts-check
// Receipts, and traces: what an execution did, and what it cost, to the wei.
import { get, encodePathPart } from './api.js';
import { formatBytes, formatCount, formatMoney, formatPlural, shortenID, formatWei } from './format.js';
import { makeAmount, makeTextBlock, runOrder, makeFactList, fillElement, h, makeLink, makeTable } from './kit.js';
import { nameOf, makeNameLink } from './names.js';
import { thingHref } from './route.js';
import { makeChangeRow, makeEventText, makeOutputText } from './typed.js';

/** @param {any} r */
export function makeReceipt(r) {
  return [
    makeFactList([['status', h('span', { 'data-tone': r.status === 'ok' ? 'good' : 'bad' }, r.status)], ['error', r.error ? `${r.error.code}: ${r.error.message}` : ''], ['origin', r.origin],
      ['block', makeLink(thingHref(`block:${r.height}`), formatCount(r.height))], ['sender', makeNameLink(r.sender)], ['to', [makeNameLink(r.to), r.handler ? '.' + r.handler : '']], ['cycles', formatCount(r.cycles)], ['cells', formatCount(r.cells)],
      ['fee', makeAmount(r.fee)], ['of that tip', formatWei(r.tip)], ['output', makeOutputText(r.to, r.handler, r.output)]]),
    r.logs.length ? [h('h3', null, 'Printed'), makeTextBlock(r.logs.join('\n'))] : null,
    r.events.length ? h('details', { open: r.events.length <= 3 }, h('summary', null, formatPlural(r.events.length, 'event')), makeTable(['actor', 'event', 'data'], r.events.map((/** @type {any} */ e) => [makeNameLink(e.actor), e.name, makeEventText(e)]))) : null,
  ];
}

/**
 * makeTraceButton executes again, and shows the tree of what was done.
 * @param {string} hash
 */
export function makeTraceButton(hash) {
  const place = h('div', { class: 'trace' });
  const button = h('button', { type: 'button' }, 'trace');
  button.addEventListener('click', () => runOrder(button, async () => {
    const t = await get(`/transaction/${encodePathPart(hash)}/trace`);
    fillElement(place, makeTraceTree(t));
  }));
  return h('div', null, h('h3', null, 'Trace'), h('p', { class: 'dim' }, 'It is executed again, on the state before it. ', button), place);
}

/** @param {any} t */
export function makeTraceTree(t) {
  return [makeFeeTable(t.fee, t.receipt), t.call ? h('ul', { class: 'tree' }, makeCallItem(t.call)) : h('p', { class: 'dim' }, 'No program ran.'),
    t.changes.length ? [h('h3', null, 'State that changed'), makeTable(['actor', 'key', 'before', 'after'], t.changes.map((/** @type {any} */ c) => [makeNameLink(c.actor), ...makeChangeRow(c)]))] : null,
    t.sent.length ? [h('h3', null, 'Messages for the next block'), makeTable(['to', 'handler', 'prepaid'], t.sent.map((/** @type {any} */ m) => [makeNameLink(m.to), m.handler, formatWei(m.prepaid)]))] : null,
    t.cut ? h('p', { class: 'warn' }, 'There was more than a trace holds.') : null];
}

/**
 * makeFeeTable adds a fee up, part by part.
 * @param {any} f
 * @param {any} r
 */
function makeFeeTable(f, r) {
  const rows = /** @type {[string, string, string][]} */ ([]);
  const burned = f.burned;
  rows.push([`${formatCount(r.cycles)} cycles × ${formatCount(f.per_cycle)}`, 'burned', burned.cycle]);
  rows.push([`${formatCount(r.cells)} cells × ${formatCount(f.per_cell)}`, 'burned', burned.cell]);
  if (burned.lane_timer !== '0') rows.push([`${formatCount(r.cycles)} cycles × ${formatCount(f.per_cycle_lane)} of the lane`, 'burned', burned.lane_timer]);
  rows.push(['tip', 'to the proposer', f.tip]);
  const sum = rows.reduce((all, row) => all + BigInt(row[2]), 0n);
  const whole = sum === BigInt(f.total);
  return h('div', { class: 'scroll', tabindex: '0' }, h('table', { class: 'fee' }, h('caption', null, 'The fee, to the wei'),
    h('tbody', null, rows.map(([what, where, amount]) => h('tr', null, h('td', null, what), h('td', null, where), h('td', { class: 'num' }, formatCount(amount)))),
      h('tr', { class: 'sum' }, h('td', null, whole ? 'together' : 'together, as the receipt has it'), h('td', null, formatMoney(f.total)), h('td', { class: 'num' }, formatCount(f.total))),
      f.prepaid !== '0' ? h('tr', null, h('td', null, 'prepaid, of which the rest came back'), h('td'), h('td', { class: 'num' }, formatCount(f.prepaid))) : null)));
}

/** @param {any} c */
function makeCallItem(c) {
  return h('li', { class: c.undone ? 'undone' : '' },
    h('span', { class: 'what' }, c.kind, ' '), makeNameLink(c.actor), `.${c.handler}(${formatBytes(c.payload).slice(0, 200)})`,
    h('small', null, ` ${formatCount(c.cycles)} cycles, ${formatCount(c.own_cycles)} of its own code, ${formatCount(c.cells)} cells `), h('span', { 'data-tone': c.status === 'ok' ? 'good' : 'bad' }, c.status), c.undone ? ' undone' : '',
    c.error ? h('p', { class: 'wrong' }, `${c.error.code}: ${c.error.message}`) : null,
    c.failed_at?.length ? makeTextBlock(c.failed_at.map((/** @type {any} */ p) => `line ${p.line} in ${p.function}: ${p.text}`).join('\n')) : null,
    c.steps?.length ? h('ul', null, c.steps.map(makeStepItem)) : null);
}

/** @param {any} s */
function makeStepItem(s) {
  if (s.call) return makeCallItem(s.call);
  const parts = [];
  if (s.key !== undefined) parts.push(s.typed?.attribute ?? formatBytes(s.key));
  if (s.to) parts.push(nameOf(s.to));
  if (s.name) parts.push(s.name);
  if (s.height !== undefined) parts.push(`at ${formatCount(s.height)}`);
  if (s.amount !== undefined) parts.push(formatWei(s.amount));
  if (s.payload !== undefined) parts.push(formatBytes(s.payload));
  if (s.id) parts.push(shortenID(s.id));
  return h('li', null, h('span', { class: 'what' }, s.what), ` ${parts.join(', ').slice(0, 400)}`, s.value !== undefined ? ` = ${(s.typed?.attribute && s.typed.value !== undefined ? formatCount(JSON.stringify(s.typed.value).replace(/^"(-?\d+)"$/, '$1')) : formatBytes(s.value)).slice(0, 400)}` : '',
    h('small', null, ` ${formatCount(s.cycles)} cycles`), s.error ? h('span', { 'data-tone': 'bad' }, ` ${s.error.code}`) : null);
}

// @ts-check
// What happens: a line for each execution, job, failed view and fault of the latest blocks, the latest first.
import { MOST_BLOCKS, fetchReceipts } from './executions.js';
import { get } from './api.js';
import { formatCount, formatMoney, formatPlural, shortenID } from './format.js';
import { makeEmptyNote, fillElement, h, makeLink, makeRefusalNote, showIf } from './kit.js';
import { faultWords } from './faults.js';
import { isPast, finalTimeOf } from './moment.js';
import * as names from './names.js';
import { nameOf } from './names.js';
import { makePoll } from './poll.js';
import { thingHref, viewHref } from './route.js';
import * as store from './store.js';

const [VERIFIER, REGISTRY] = ['0x' + '0'.repeat(39) + '3', '0x' + '0'.repeat(39) + '1'];

const [MOST_LINES, SEARCHED_BLOCKS] = [30, 60];

/**
 * @typedef {{at: number, height: number, key: string, line: any[]}} Line
 */

/**
 * isRunnerRoutine reports whether an execution is what validators do for runners all the time.
 * @param {any} r
 */
function isRunnerRoutine(r) { return r.status === 'ok' && (r.to === VERIFIER || r.to === REGISTRY && r.handler === 'heartbeat'); }

/**
 * executionLine is a line as `devnet up` prints it.
 * @param {any} r
 */
function executionLine(r) {
  const to = nameOf(r.to) + (r.handler ? '.' + r.handler : '');
  const what = r.origin === 'timer' ? `${to} fired` : `${nameOf(r.sender)} → ${/^0x0+$/.test(r.to || '0x0') ? 'the chain' : to}${r.origin === 'message' ? ' (message)' : ''}`;
  return [makeLink(thingHref(`${r.origin === 'timer' ? 'timer' : 'tx'}:${r.hash}`), what), ' ', h('span', { 'data-tone': r.status === 'ok' ? 'good' : 'bad' }, r.status), h('small', null, ` fee ${formatMoney(r.fee)}`),
    r.error ? h('small', { class: 'wrong' }, ` ${r.error.code}: ${r.error.message}`) : r.logs.length ? h('small', { class: 'said' }, ` ${r.logs[r.logs.length - 1]}`) : null];
}

/**
 * sortKeyBehind puts what happened behind a block into the order of its time.
 * @param {number} height
 * @param {number} ms
 */
function sortKeyBehind(height, ms) { return height + 0.8 + ms % 1e8 / 1e9; }

export function makeFeed() {
  const list = h('ol', { class: 'feed' });
  const emptyNote = h('div');
  const sums = h('p', { class: 'dim small' });
  let lastDrawn = '';
  const pollLines = makePoll({ each: 700, els: [list, emptyNote], of: (r) => ({ at: isPast(r) ? r.at : null }), ask: async ({ at }, signal) => {
    const to = at ?? store.headHeight();
    await Promise.all([store.waitForRows('blocks', MOST_BLOCKS, to), store.waitForRows('views', store.RING_SIZE)]);
    const blocks = store.blocks.last(MOST_BLOCKS, to);
    const busy = blocks.filter((b) => b.txs || b.fired || b.cycles).slice(-SEARCHED_BLOCKS).reverse();
    /** @type {any[]} */
    const receipts = [];
    for (const b of busy) {
      receipts.push(...(await fetchReceipts(b.height, signal)).filter((r) => !isRunnerRoutine(r)));
      if (receipts.length >= MOST_LINES) break;
    }
    const jobs = (await get('/jobs', { order: 'newest', limit: 20, at: at === null ? '' : `h${at}` }, signal)).filter((/** @type {any} */ j) => j.submitted_at <= to);
    return { to, blocks, receipts: receipts.slice(0, MOST_LINES), jobs };
  }, take: ({ to, blocks, receipts, jobs }) => {
    const first = blocks[0]?.height ?? 0;
    /** @type {[number, number][]} */
    const times = [];
    for (const b of blocks) {
      const time = finalTimeOf(b);
      if (time !== null) times.push([b.height, time]);
    }
    const [begin, end] = [times[0]?.[1] ?? Infinity, to < store.headHeight() ? times[times.length - 1]?.[1] ?? 0 : Infinity];
    /** @type {Line[]} */
    const all = receipts.map((r, i) => ({ at: r.height + 0.5 - i / 1000, height: r.height, key: r.hash, line: executionLine(r) }));
    for (const j of jobs) {
      const place = thingHref(`job:${j.id}`);
      if (j.submitted_at >= first) all.push({ at: j.submitted_at + 0.6, height: j.submitted_at, key: j.id, line: [makeLink(place, `job ${shortenID(j.id)}`), ` of ${nameOf(j.submitter)} submitted`] });
      if (j.completed_at !== null && j.completed_at <= to && j.completed_at >= first) all.push({ at: j.completed_at + 0.7, height: j.completed_at, key: j.id + j.status, line: [makeLink(place, `job ${shortenID(j.id)}`), ' ', h('span', { 'data-tone': j.status === 'Completed' ? 'good' : 'bad' }, j.status.toLowerCase()), j.error ? ` ${j.error.code}` : j.winner ? ` won by ${nameOf(j.winner)}` : ''] });
    }
    const heightOf = (/** @type {number} */ ms) => times.filter(([, time]) => time <= ms).pop()?.[0] ?? first;
    for (const f of store.latestBeat.faults || []) {
      if (!f.began_ms || f.began_ms < begin || f.began_ms > end) continue;
      const height = heightOf(f.began_ms);
      all.push({ at: sortKeyBehind(height, f.began_ms), height, key: f.verb + f.began_ms + f.ended, line: [h('strong', { class: 'warn' }, 'fault '), faultWords(f), f.ended ? h('small', null, ' ended') : null] });
    }
    /** @type {store.View[][]} */
    // of views that failed one after the other of one cause
    const runs = [];
    for (const v of store.views.last(store.RING_SIZE)) {
      if (v.outcome !== 'nullified' || v.began < begin || v.began + (v.took ?? 0) / 1000 > end) continue;
      const before = runs[runs.length - 1];
      if (before && before[0].cause === v.cause && before[before.length - 1].leader === v.leader && v.began - before[before.length - 1].began < 20000) before.push(v);
      else runs.push([v]);
    }
    for (const run of runs) {
      const v = run[run.length - 1];
      const height = heightOf(v.began);
      all.push({ at: sortKeyBehind(height, v.began + (v.took ?? 0) / 1000), height, key: `view${v.view}.${run.length}`, line: [makeLink(thingHref(`view:${v.view}`), run.length > 1 ? `${formatPlural(run.length, 'view')} of ${v.leader}` : `view ${formatCount(v.view)} of ${v.leader}`), ' ', h('span', { 'data-tone': 'bad' }, 'failed'), ` ${v.cause.replaceAll('_', ' ')}`] });
    }
    const shown = all.sort((a, b) => b.at - a.at).slice(0, MOST_LINES);
    showIf(emptyNote, !shown.length);
    const next = JSON.stringify([names.versionText(), to < store.headHeight() ? to : 0, location.hash, shown.map((one) => [one.key, one.height])]);
    const fired = blocks.reduce((n, b) => n + b.fired, 0);
    const txs = blocks.reduce((n, b) => n + b.txs, 0);
    fillElement(sums, `In ${formatPlural(blocks.length, 'block')} up to ${formatCount(to)}: `, makeLink(viewHref('txs', { kind: 'transaction' }), formatPlural(txs, 'transaction')), ', ', makeLink(viewHref('timers', { status: 'fired' }), formatPlural(fired, 'fire')), ', ', makeLink(viewHref('jobs'), formatPlural(jobs.filter((/** @type {any} */ j) => j.submitted_at >= first).length, 'job')),
      ', ', makeLink(viewHref('views'), formatPlural(runs.reduce((n, run) => n + run.length, 0), 'failed view')), '.');
    if (next === lastDrawn) return;
    lastDrawn = next;
    fillElement(list, shown.map((one) => h('li', null, makeLink(thingHref(`block:${one.height}`), h('span', { class: 'dim' }, formatCount(one.height))), h('span', null, one.line))));
    if (!shown.length) fillElement(emptyNote, makeEmptyNote('Nothing was executed in these blocks. Send something, or break something:', 'devnet transfer bob 5'));
  }, fail: (e) => {
    lastDrawn = '';
    fillElement(list);
    showIf(emptyNote, true);
    fillElement(emptyNote, makeRefusalNote(e));
  } });
  return { el: h('div', null, sums, list, emptyNote), draw: pollLines };
}

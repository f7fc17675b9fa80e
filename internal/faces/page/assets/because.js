// @ts-check
// Because: the deed or the parameter behind what failed or waits, with the button or the command that ends or repeats it.
import { devnetCommand } from './api.js';
import { formatCount, formatPlural, shortenID, formatDuration, joinNames } from './format.js';
import { h, makeCommandLine } from './kit.js';
import { effectWords, makeEndButton, faultWords, makeRepeatButton } from './faults.js';
import { faultsWithin, finalTimeOf } from './moment.js';
import { nameOf } from './names.js';
import * as store from './store.js';
import { CAUSES, FAILURES, PARAMETERS, REASONS } from './words.js';

/** What ended so many ms before a view may still be its cause: nobody waits for a leader that was not heard for four views. */
const LATE_CAUSE_MS = 15000;

/** A view fails for want of a node: deeds against these nodes come first. */
const LASTING_CAUSES = ['leader_unheard', 'leader_behind', 'parent_missing', 'no_proposal'];

/** @param {...any} parts */
function makeCauseBox(...parts) { return h('div', { class: 'because' }, h('strong', null, 'Because '), ...parts); }

/**
 * explainFault returns a fault in a sentence, with the button that ends or repeats it.
 * @param {any} f
 * @param {number} at when it counted
 * @param {string} [what] of what
 */
function explainFault(f, at, what = '') {
  const before = at - f.began_ms;
  const ended = f.ended_ms === null ? '' : f.ended_ms < at ? `, and ended ${formatDuration(at - f.ended_ms)} before` : ', and has ended since';
  const did = effectWords(f);
  return h('p', null, faultWords(f), h('span', { class: 'dim' }, `: ordered ${before >= 0 ? `${formatDuration(before)} before ${what}` : `within ${what}`}${ended}${did ? `. ${did}` : ''}. `),
    h('span', { class: 'cheats' }, f.ended ? makeRepeatButton(f) : makeEndButton(f)));
}

/**
 * weighFault tells how much a fault has to do with some nodes, of which the first counts most; 0: nothing.
 * @param {any} f
 * @param {string[]} nodes
 */
function weighFault(f, nodes) {
  const o = f.order;
  if (f.verb === 'partition' || f.verb === 'bridge') {
    const sides = f.verb === 'partition' ? o.groups : [o.left, o.right];
    const sideOf = (/** @type {string} */ n) => sides.findIndex((/** @type {string[]} */ g) => g.includes(n));
    const least = Math.min(...sides.filter((/** @type {string[]} */ g) => g.length).map((/** @type {string[]} */ g) => g.length));
    return nodes.length > 1 && nodes.slice(1).some((n) => sideOf(n) !== sideOf(nodes[0])) ? 3 : nodes.some((n) => sideOf(n) >= 0 && sides[sideOf(n)].length === least) ? 2 : 1;
  }
  if (f.verb === 'link') return o.a === nodes[0] || o.b === nodes[0] ? 3 : nodes.includes(o.a) || nodes.includes(o.b) ? 2 : 0;
  return o.node === nodes[0] ? 3 : nodes.includes(o.node) ? 2 : 0;
}

/**
 * explainFailedView returns null where no view failed.
 * @param {store.View} v
 */
export function explainFailedView(v) {
  if (v.outcome !== 'nullified' && !(v.outcome === 'open' && v.cause)) return null;
  const all = (store.latestBeat?.nodes || []).map((/** @type {any} */ n) => n.name);
  const silent = all.filter((/** @type {string} */ n) => ![...v.notarize, ...v.nullify, ...v.finalize].includes(n));
  const nodes = [v.leader, ...silent, ...v.gaveUp.map((g) => g.validator)].filter((n, i, list) => n && list.indexOf(n) === i);
  const end = v.took === null ? Infinity : v.began + v.took / 1000;
  const faults = faultsWithin(v.began - (LASTING_CAUSES.includes(v.cause) ? LATE_CAUSE_MS : 0), end);
  const runnersOnly = (/** @type {any} */ f) => f.order.node && !all.includes(f.order.node);
  const relevantFaults = (faults || []).filter((f) => !runnersOnly(f)).map((f) => ({ f, weight: weighFault(f, nodes) })).filter((one) => one.weight > 0)
    .sort((a, b) => b.weight - a.weight || b.f.began_ms - a.f.began_ms);
  const most = relevantFaults[0]?.weight ?? 0;
  const means = CAUSES[v.cause] ? `${CAUSES[v.cause]}.` : 'its validators gave it up.';
  if (relevantFaults.length) {
    return makeCauseBox(means, relevantFaults.filter((one) => one.weight === most).slice(0, 3).map((one) => explainFault(one.f, v.began, 'the view')));
  }
  return makeCauseBox(means, h('p', { class: 'dim' }, faults ? 'No fault that was ordered here was in force: the machine was late, or the node failed by itself.' : 'Faults are not told here.'),
    makeCommandLine(devnetCommand(`logs ${v.leader || silent[0] || v.gaveUp[0]?.validator || 'v0'}`)));
}

/**
 * describeSimilarFailures returns a sentence on the views that failed of the same cause, under the same leader.
 * @param {store.View} v
 */
export function describeSimilarFailures(v) {
  if (v.outcome !== 'nullified') return '';
  const list = store.views.last(store.RING_SIZE).filter((o) => o.outcome === 'nullified' && o.cause === v.cause && o.leader === v.leader);
  return list.length > 1 ? `${formatPlural(list.length, 'view')} of ${v.leader || 'unknown leaders'} failed like this since view ${formatCount(list[0].view)}.` : '';
}

/**
 * explainTimer says why a timer waits, fired late or never.
 * @param {any} t
 * @param {any[]} story
 * @param {number} height
 */
export function explainTimer(t, story, height) {
  if (t.result && t.result !== 'ok' && t.status === 'fired') return makeCauseBox(`its handler ended ${t.result}: the receipt of its fire, below, says why.`, makeCommandLine(devnetCommand(`debug ${shortenID(t.id)}`)));
  if (t.status === 'cancelled' || !t.deferrals && t.status === 'fired' || t.status === 'pending' && height < t.height) return null;
  const counts = /** @type {Map<string, number>} */ (new Map());
  for (const e of story) if (e.kind === 'deferred' && e.reason) counts.set(e.reason, (counts.get(e.reason) || 0) + (e.blocks || 1));
  if (!counts.size && t.reason) counts.set(t.reason, 0);
  const all = [...counts].sort((a, b) => b[1] - a[1]);
  if (!all.length) return null;
  const parameter = all.map(([reason]) => PARAMETERS[reason]).find(Boolean);
  const isMachineLate = all.some(([reason]) => reason === 'not_begun' || reason === 'host_failed');
  const faults = isMachineLate && finalTimeAt(t.height) ? faultsWithin(finalTimeAt(t.height), finalTimeAt(t.ended_at || height)) : null;
  return makeCauseBox(all.map(([reason, n], i) => [i ? '; ' : '', REASONS[reason] || reason.replaceAll('_', ' '), h('span', { class: 'dim' }, ` (${reason}${n ? `, in ${formatPlural(n, 'block')}` : ''})`)]), '.',
    faults?.filter((f) => store.latestBeat.nodes.some((/** @type {any} */ n) => n.name === f.order.node)).slice(0, 2).map((f) => explainFault(f, finalTimeAt(t.height), 'it was due')),
    parameter ? makeCommandLine(devnetCommand(`params set ${parameter} VALUE`)) : null);
}

/**
 * finalTimeAt is 0 where the time of a block is not known.
 * @param {number} height
 */
function finalTimeAt(height) { return finalTimeOf(store.blocks.last(1, height)[0]) ?? 0; }

/**
 * explainFailedJob says also which runners of the job had a fault.
 * @param {any} j
 * @param {any[]} runners
 * @param {number} height
 */
export function explainFailedJob(j, runners, height) {
  const bad = runners.filter((r) => ['disagreed', 'silent', 'refused'].includes(r.outcome));
  if (j.status !== 'Failed' && !bad.length) return null;
  const names = runners.map((r) => nameOf(r.address));
  const [from, to] = [finalTimeAt(j.submitted_at), finalTimeAt(j.completed_at ?? height)];
  const faults = (from && faultsWithin(from, to) || []).filter((f) => names.includes(f.order.node) || f.verb === 'partition' || f.verb === 'bridge');
  const who = bad.length ? `${joinNames([...new Set(bad.map((r) => `${nameOf(r.address)} ${{ disagreed: 'gave another result', silent: 'gave none', refused: 'refused it' }[/** @type {string} */ (r.outcome)]}`))])}.` : '';
  const means = j.error ? `${FAILURES[j.error.code] || j.error.code}. ` : '';
  return makeCauseBox(means, who, faults.slice(0, 3).map((f) => explainFault(f, from, 'it was submitted')), j.error?.code === 'no_candidates' ? makeCommandLine(devnetCommand('runner list')) : null,
    j.status === 'Failed' && j.error?.code !== 'no_candidates' ? makeCommandLine(devnetCommand(`job show ${shortenID(j.id)}`)) : null);
}

/**
 * explainFailedReceipt says also how the execution is looked into.
 * @param {any} r
 */
export function explainFailedReceipt(r) {
  if (r.status === 'ok' || !r.height) return null;
  return makeCauseBox(r.error ? `${r.error.code.replaceAll('_', ' ')}: ${r.error.message}` : r.status, '. ', h('span', { class: 'dim' }, 'Its writes were undone, and its fee was paid. Run it again, line by line:'), makeCommandLine(devnetCommand(`debug ${shortenID(r.hash)}`)));
}

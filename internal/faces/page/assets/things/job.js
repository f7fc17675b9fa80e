// @ts-check
import { devnetCommand, get, encodePathPart, post } from '../api.js';
import { formatBytes, formatCount, formatMoney, formatPlural, shortenID } from '../format.js';
import { makeActionButton, makeTextBlock, makeFactList, h, makeLink, makeTable, makeCommandLine } from '../kit.js';
import { reloadThing, makeThingFromAnswer } from '../drawer.js';
import { nameOf, makeNameLink } from '../names.js';
import { readRoute, thingHref } from '../route.js';
import * as store from '../store.js';
import { makeJobChart } from '../gantt.js';
import { heightIfBornLater, momentOf, makeNotYetNote } from '../moment.js';
import { explainFailedJob } from '../because.js';

/** @type {import('../drawer.js').Kind} */
export const job = {
  word: 'job',
  json: (id) => `/job/${encodePathPart(id)}/story`,
  command: (id) => `job show ${id}`,
  make: (id) => makeThingFromAnswer(async (signal) => {
    const at = momentOf();
    const born = await heightIfBornLater(`/job/${encodePathPart(id)}`, 'submitted_at', at, signal);
    if (born) return { born, at };
    const story = await get(`/job/${encodePathPart(id)}/story`, { limit: 2000, at }, signal);
    const runners = await get(`/job/${encodePathPart(id)}/runners`, { limit: 1000, at }, signal);
    const { submitted_at: from, completed_at: to } = story.job;
    await Promise.all([from, to ?? story.height].map((height) => store.waitForRows('blocks', 1, height)));
    return { story, runners, at };
  }, (/** @type {any} */ { born, story, runners, at }) => {
    if (born) return makeNotYetNote('submitted', born, at);
    const j = story.job;
    return [
      at ? h('p', { class: 'present' }, `As it was at block ${formatCount(story.height)}.`) : null,
      explainFailedJob(j, runners, story.height),
      // that view has the chart
      readRoute().view === 'jobs' ? null : makeJobChart(j, story.story, runners, story.height),
      makeFactList([['status', h('span', { 'data-tone': j.status === 'Completed' ? 'good' : j.status === 'Failed' ? 'bad' : 'warn' }, j.status)], ['error', j.error ? `${j.error.code}: ${j.error.message}` : ''], ['kind', j.kind], ['mode', j.mode],
        ['submitter', makeNameLink(j.submitter)], ['submitted at', makeLink(thingHref(`block:${j.submitted_at}`), formatCount(j.submitted_at))], ['deadline', formatCount(j.deadline)], ['commitments until', j.commit_deadline === null ? '' : formatCount(j.commit_deadline)],
        ['ended at', j.completed_at === null ? '' : makeLink(thingHref(`block:${j.completed_at}`), formatCount(j.completed_at))], ['draws', formatCount(j.attempts)], ['committee', j.committee.map((/** @type {string} */ a) => [makeNameLink(a), ' '])], ['winner', makeNameLink(j.winner)],
        ['callback', j.callback ? [makeNameLink(j.callback.actor), '.', j.callback.handler] : ''], ['max price', formatMoney(j.max_price)], ['escrow', formatMoney(j.escrow)], ['price', formatMoney(j.price)]]),
      j.pool ? h('p', { class: 'warn' }, `${formatPlural(j.pool.eligible, 'runner')} of ${formatCount(j.pool.wanted)} wanted may be drawn. `, j.pool.left_out.map((/** @type {any} */ l) => `${l.runners} left out: ${l.filter} (${l.why}). `)) : null,
      j.result !== null ? [h('h3', null, 'Result'), makeTextBlock(formatBytes(j.result))] : null,
      runners.length ? [h('h3', null, 'Runners'), makeTable(['runner', 'draw', 'committed', 'revealed', 'outcome'], runners.map((/** @type {any} */ r) => [makeNameLink(r.address), r.attempt, r.committed_at === null ? '' : formatCount(r.committed_at), r.revealed_at === null ? '' : formatCount(r.revealed_at),
        h('span', { 'data-tone': r.outcome === 'agreed' ? 'good' : r.outcome === 'pending' ? '' : 'bad' }, r.outcome === 'disagreed' ? '≠ disagreed' : r.outcome)]))] : null,
      !at && j.completed_at === null && !store.latestBeat?.ready?.strict ? h('p', null, makeActionButton('cancel', devnetCommand(`job cancel ${shortenID(j.id)}`), async () => {
        await post('/devnet/job/cancel', { id: j.id });
        reloadThing();
        return 'the job is cancelled';
      }, 'danger')) : null,
      story.next === null ? null : [h('p', { class: 'dim' }, `The first ${formatCount(story.story.length)} events are shown, and there are more:`), makeCommandLine(devnetCommand(`job show ${shortenID(j.id)}`))],
      h('details', null, h('summary', null, formatPlural(story.story.length, 'event')), makeTable(['block', 'what', 'who', 'detail'], story.story.map((/** @type {any} */ e) => [makeLink(thingHref(`block:${e.height}`), formatCount(e.height)), e.what.replaceAll('_', ' '),
        [e.runner ? makeNameLink(e.runner) : '', e.validator ? [' at ', nameOf(e.validator)] : ''], describeEvent(e)]))),
    ];
  }),
};

/** @param {any} e */
function describeEvent(e) {
  return [e.outcome, e.rejected, e.fraction === null ? '' : `${e.fraction} %`, e.detail, e.error ? `${e.error.code}: ${e.error.message}` : '', e.after_us ? `after ${formatCount(e.after_us)} µs` : '',
    e.what === 'drawn' ? e.committee.map(nameOf).join(' ') : ''].filter(Boolean).join(' · ');
}

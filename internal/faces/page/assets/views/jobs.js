// @ts-check
// Jobs: the list, the chart of the one that is selected, and a form.
import { devnetCommand, get, encodePathPart, post, quoteForShell } from '../api.js';
import { formatCount, formatMoney, shortenID } from '../format.js';
import { writeAttribute, runOrder, makeChoice, makeCopyButton, makeEmptyNote, makeField, fillElement, h, makeLink, makeRefusalNote, showIf } from '../kit.js';
import { makeJobChart, compareResults } from '../gantt.js';
import { heightIfBornLater, isPast, momentOf, fetchRows } from '../moment.js';
import * as names from '../names.js';
import { makePoll } from '../poll.js';
import { makeOlderLink, makeRowTable, wantedRows } from '../rows.js';
import * as route from '../route.js';

export const jobs = { id: 'jobs', title: 'Jobs', key: 'j', make: makeJobsView };

const ROWS = 40;
const STATES = ['', 'Pending', 'Assigned', 'Executing', 'Completed', 'Failed'];

function makeJobsView() {
  const states = h('span', { class: 'choices', role: 'group', 'aria-label': 'states' }, STATES.map((s) => h('a', { href: '#', 'data-state': s }, s || 'all')));
  const none = h('div');
  const picture = h('div');
  const title = h('h2', null, 'From submission to callback');
  const table = makeRowTable({
    label: 'jobs', size: ROWS, href: (j) => route.thingHref(`job:${j.id}`), sel: (j) => `job:${j.id}`, columns: [
      { name: 'job', text: (j) => shortenID(j.id), main: true },
      { name: 'kind', text: (j) => j.kind, main: true },
      { name: 'status', text: (j) => j.status + (j.error ? ': ' + j.error.code : ''), main: true, tone: (j) => (j.status === 'Completed' ? 'good' : j.status === 'Failed' ? 'bad' : 'warn') },
      { name: 'submitter', text: (j) => names.nameOf(j.submitter) },
      { name: 'mode', text: (j) => j.mode.replaceAll('_', ' ') },
      { name: 'committee', text: (j) => j.committee.map(names.nameOf).join(' ') },
      { name: 'submitted', kind: 'num', text: (j) => formatCount(j.submitted_at) },
      { name: 'ended', kind: 'num', text: (j) => (j.completed_at === null ? '' : formatCount(j.completed_at)) },
      { name: 'deadline', kind: 'num', text: (j) => formatCount(j.deadline) },
      { name: 'price', kind: 'num', text: (j) => formatMoney(j.price) },
    ] });
  const older = makeOlderLink('jobs', ROWS);
  const el = h('div', { class: 'cards' },
    h('section', { class: 'card whole' }, title, picture),
    h('section', { class: 'card whole' }, h('div', { class: 'bar' }, h('h2', null, 'Jobs'), states), table.el, older.el, none),
    h('section', { class: 'card whole cheats' }, makeSubmitForm()));

  const pollRows = makePoll({ each: 700, els: [table.el, older.el, none], of: (r) => ({ limit: Math.min(wantedRows(r.params, ROWS) + 1, 1000), at: momentOf(r), from: r.from, ...jobFilter(r.params) }), ask: async ({ from, limit, ...q }, signal) => (from !== null ? fetchRows('/jobs', q, (j) => j.submitted_at >= from, limit, signal)
    : { list: await get('/jobs', { ...q, limit }, signal), cut: false }), take: ({ list, cut }, r) => {
    const rows = wantedRows(r.params, ROWS);
    table.set(list.slice(0, rows), r.sel);
    older.set(rows, list.length > rows || rows === 1000 && list.length === rows, cut ? 'only the latest 10,000 were looked at' : '');
    showIf(none, !list.length);
    if (!list.length) {
      fillElement(none, isPast(r) ? makeEmptyNote(`No job had been submitted by block ${formatCount(/** @type {number} */ (r.at))}${r.params.status ? ' that was like that' : ''}.`) : r.params.status || r.params.runner || r.params.submitter ? makeEmptyNote('No job is like that.') : makeEmptyNote('No job was submitted yet. Submit one:', devnetCommand('job submit --kind custom --executor echo --params hello --runners 3 --mode majority_vote')));
    }
  }, fail: (e) => {
    table.set([]);
    older.set(0, false);
    showIf(none, true);
    fillElement(none, makeRefusalNote(e));
  } });
  // The one that is selected, or else the latest.
  const pollChosen = makePoll({ each: 700, els: [title, picture], of: (r) => ({ id: /^job:(0x[0-9a-f]+)$/.exec(r.sel)?.[1] || '', latest: jobFilter(r.params), at: momentOf(r) }), ask: async ({ id, latest, at }, signal) => {
    const one = id || (await get('/jobs', { limit: 1, ...latest, at }, signal))[0]?.id;
    const missing = (/** @type {any} */ e) => (e.status === 404 ? null : Promise.reject(e));
    const later = id ? await heightIfBornLater(`/job/${encodePathPart(id)}`, 'submitted_at', at, signal).catch(missing) : 0;
    const story = one && !later ? await get(`/job/${encodePathPart(one)}/story`, { limit: 2000, at }, signal).catch(missing) : null;
    const runners = story ? await get(`/job/${encodePathPart(one)}/runners`, { limit: 1000, at }, signal).catch(missing) || [] : [];
    return { story, runners };
  }, take: ({ story, runners }, r) => drawStory(story, runners, isPast(r) ? r.at : null), fail: (e) => {
    drawnKey = null;
    fillElement(title, 'From submission to callback');
    fillElement(picture, makeRefusalNote(e));
  } });
  /** @type {string|null} */
  let drawnKey = null;
  /**
   * @param {any} story
   * @param {any[]} runners
   * @param {number|null} at
   */
  function drawStory(story, runners, at) {
    const key = story ? JSON.stringify([names.versionText(), at, story.story.length, story.job, runners, story.job.completed_at === null ? story.height : 0]) : '';
    if (key === drawnKey) return;
    drawnKey = key;
    if (!story) {
      fillElement(title, 'From submission to callback');
      return void fillElement(picture, h('p', { class: 'dim' }, at === null ? 'The latest job is shown here.' : `No such job had been submitted by block ${formatCount(at)}.`));
    }
    const j = story.job;
    const compared = compareResults(runners);
    fillElement(title, `Job ${shortenID(j.id)}${at === null ? '' : ` at block ${formatCount(at)}`}: `, h('span', { 'data-tone': j.status === 'Completed' ? 'good' : j.status === 'Failed' ? 'bad' : 'warn' }, j.status), compared ? h('span', { 'data-tone': 'bad' }, ` · ${compared}`) : null);
    fillElement(picture, makeJobChart(j, story.story, runners, story.height), h('p', null, makeLink(route.thingHref(`job:${j.id}`), 'details of the job')));
  }
  return {
    el,
    /** @param {route.Route} r */
    draw(r) {
      for (const a of states.children) {
        const s = a.getAttribute('data-state') || '';
        writeAttribute(a, 'href', route.hrefWith({ status: s }));
        if (s === (r.params.status || '')) writeAttribute(a, 'aria-current', 'true'); else a.removeAttribute('aria-current');
      }
      pollRows(r);
      pollChosen(r);
    },
  };
}

/**
 * jobFilter are the jobs that an address asks for.
 * @param {{[name: string]: string}} params
 */
function jobFilter(params) {
  return { order: 'newest', status: STATES.includes(params.status || '') ? params.status : '', runner: params.runner, submitter: params.submitter };
}

/** makeSubmitForm submits a job of the executor that needs nothing outside. */
function makeSubmitForm() {
  const kind = makeChoice('kind', ['custom', 'http', 'llm'], 'custom');
  const what = makeField('executor, address or model', { value: 'echo', size: 18 });
  const input = makeField('params or prompt', { value: 'hello', size: 18 });
  const runners = makeField('runners', { type: 'number', value: 3, min: 1, max: 100 });
  const mode = makeChoice('mode', ['none', 'majority_vote', 'deterministic', 'semantic_similarity'], 'majority_vote');
  const makeOrder = () => {
    const k = kind.input.value;
    const of = k === 'custom' ? { executor: what.input.value, params: input.input.value } : k === 'http' ? { url: what.input.value } : { model: what.input.value, prompt: input.input.value };
    return { kind: k, runners: Number(runners.input.value), mode: mode.input.value, ...of };
  };
  const writeCommand = () => {
    const b = /** @type {any} */ (makeOrder());
    return devnetCommand(`job submit --kind ${b.kind} ${['executor', 'params', 'url', 'model', 'prompt'].filter((f) => b[f]).map((f) => `--${f} ${quoteForShell(b[f])}`).join(' ')} --runners ${b.runners} --mode ${b.mode}`);
  };
  const go = h('button', { type: 'button', class: 'primary' }, 'submit');
  go.addEventListener('click', () => runOrder(go, async () => {
    const s = await post('/devnet/job/submit', makeOrder());
    if (s.id) route.selectThing(`job:${s.id}`);
    return `job ${shortenID(s.id || s.hash || '')} is submitted`;
  }));
  return h('details', null, h('summary', null, 'submit a job'), h('div', { class: 'orders' }, kind.el, what.el, input.el, runners.el, mode.el, h('span', { class: 'action' }, go, makeCopyButton(writeCommand, '$', 'copy as command: job submit'))));
}


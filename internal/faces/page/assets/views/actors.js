// @ts-check
// Actors: the list, and forms for the handlers of the one that is selected, with a dry run before sending.
import { devnetCommand, get, encodePathPart } from '../api.js';
import { formatCount, formatMoney, shortenID } from '../format.js';
import { makeEmptyNote, fillElement, h, makeRefusalNote, showIf, writeText } from '../kit.js';
import { makeHandlerForm } from '../handler.js';
import { isPast, momentOf, makePresentNote } from '../moment.js';
import { nameOf } from '../names.js';
import { makePoll } from '../poll.js';
import { makeOlderLink, makeRowTable, wantedRows } from '../rows.js';
import * as route from '../route.js';
import * as store from '../store.js';
import { fetchSchema } from '../typed.js';

export const actors = { id: 'actors', title: 'Actors', key: 'a', make: makeActorsView };

const ROWS = 40;

function makeActorsView() {
  const none = h('div');
  const note = makePresentNote('Reads, dry runs and calls are');
  const forms = h('div');
  const title = h('h2', null, 'Handlers');
  const table = makeRowTable({
    label: 'actors', size: ROWS, href: (a) => route.thingHref(`actor:${a.address}`), sel: (a) => `actor:${a.address}`, columns: [
      { name: 'actor', text: (a) => a.name || shortenID(a.address), main: true },
      { name: 'address', text: (a) => shortenID(a.address) },
      { name: 'timers', kind: 'num', text: (a) => formatCount(a.timers.pending), main: true },
      { name: 'balance', kind: 'num', text: (a) => formatMoney(a.balance), main: true },
      { name: 'owner', text: (a) => nameOf(a.owner) },
      { name: 'deployed', kind: 'num', text: (a) => formatCount(a.deployed_at) },
    ] });
  const older = makeOlderLink('actors', ROWS);
  const el = h('div', { class: 'cards' }, h('section', { class: 'card whole' }, h('h2', null, 'Actors'), table.el, older.el, none), h('section', { class: 'card whole' }, title, note.el, forms));
  const pollList = makePoll({ each: 1500, els: [table.el, older.el, none], of: (r) => ({ limit: Math.min(wantedRows(r.params, ROWS) + 1, 1000), at: momentOf(r) }), ask: (q, signal) => get('/actors', q, signal), take: (/** @type {any[]} */ all, r) => {
    const rows = wantedRows(r.params, ROWS);
    table.set(all.slice(0, rows), r.sel);
    older.set(rows, all.length > rows || rows === 1000 && all.length === rows);
    showIf(none, !all.length);
    if (!all.length) fillElement(none, isPast(r) ? makeEmptyNote('No actor was deployed then.') : makeEmptyNote('No actor is deployed. Begin with one of the examples:', devnetCommand('actor deploy fixtures/actors/heartbeat.py --fund 10')));
  }, fail: (e) => {
    table.set([]);
    older.set(0, false);
    showIf(none, true);
    fillElement(none, makeRefusalNote(e));
  } });
  let drawnKey = '';
  // The one that is selected, or else the first; the list has no handlers.
  const pollChosen = makePoll({ each: 1500, els: [title, forms], of: ({ sel }) => /^actor:(.+)$/.exec(sel)?.[1] || '', ask: async (wanted, signal) => {
    const id = wanted || (await get('/actors', { limit: 1 }, signal))[0]?.address;
    const a = id ? await get(`/actor/${encodePathPart(id)}`, {}, signal).catch((e) => (e.status === 404 ? null : Promise.reject(e))) : null;
    return { a, schema: a ? await fetchSchema(a.address, a.code_hash, '') : null };
  }, take: ({ a, schema }, r) => {
    const key = JSON.stringify([a?.address, a?.name, a?.code_hash, a?.undescribed, schema !== null, store.resetCount]);
    // what was typed into its forms stays
    if (key === drawnKey) return;
    drawnKey = key;
    writeText(title, a ? `Handlers of ${a.name || shortenID(a.address)}` : 'Handlers');
    if (!a) return void fillElement(forms, h('p', { class: 'dim' }, 'Select an actor: its handlers are shown here, each with a form.'));
    fillElement(forms, a.undescribed ? h('p', { class: 'warn' }, a.undescribed) : null, a.handlers.map((/** @type {any} */ handler) => makeHandlerForm(a, handler, r.params.q === handler.name, schema)));
  }, fail: (e) => {
    drawnKey = '';
    fillElement(forms, makeRefusalNote(e));
  } });
  return {
    el,
    /** @param {route.Route} r */
    draw(r) {
      note.draw(r);
      pollList(r);
      pollChosen(r);
    },
  };
}

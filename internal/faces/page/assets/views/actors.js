// @ts-check
// Actors: the list, and forms for the handlers of the one that is selected, with a dry run before sending.
import { command, get, part } from '../api.js';
import { count, money, short } from '../format.js';
import { empty, fill, h, show } from '../kit.js';
import { handlerForm } from '../handler.js';
import { name } from '../names.js';
import { poll } from '../poll.js';
import { pool } from '../rows.js';
import * as route from '../route.js';
import { schemaOf } from '../typed.js';

export const actors = { id: 'actors', title: 'Actors', key: 'a', make };

const ROWS = 40;

function make() {
  const none = h('div');
  const forms = h('div');
  const title = h('h2', null, 'Handlers');
  const table = pool({
    label: 'actors', size: ROWS, href: (a) => route.selected(`actor:${a.address}`), sel: (a) => `actor:${a.address}`, columns: [
      { name: 'actor', text: (a) => a.name || short(a.address), main: true },
      { name: 'address', text: (a) => short(a.address) },
      { name: 'timers', kind: 'num', text: (a) => count(a.timers.pending), main: true },
      { name: 'balance', kind: 'num', text: (a) => money(a.balance), main: true },
      { name: 'owner', text: (a) => name(a.owner) },
      { name: 'deployed', kind: 'num', text: (a) => count(a.deployed_at) },
    ] });
  const el = h('div', { class: 'cards' }, h('section', { class: 'card whole' }, h('h2', null, 'Actors'), table.el, none), h('section', { class: 'card whole' }, title, forms));
  let made = 'nothing';
  const list = poll(1500, () => get('/actors', { limit: ROWS }), (all, r) => {
    table.set(all, r.sel);
    show(none, !all.length);
    if (!all.length) fill(none, empty('No actor is deployed. Begin with one of the examples:', command('actor deploy fixtures/actors/heartbeat.py --fund 10')));
    choose(all, r);
  });
  /**
   * @param {any[]} all
   * @param {route.Route} r
   */
  async function choose(all, r) {
    const wanted = /^actor:(.+)$/.exec(r.sel)?.[1];
    const row = all.find((x) => x.address === wanted || x.name === wanted) || (wanted ? null : all[0]);
    const key = row ? row.address + row.code_hash : wanted || '';
    if (key === made) return;
    made = key;
    const id = row?.address ?? wanted;
    const a = id ? await get(`/actor/${part(id)}`).catch(() => null) : null; // the list has no handlers
    const schema = a ? await schemaOf(a.address, a.code_hash) : null;
    if (key !== made) return;
    if (!a) return void fill(forms, h('p', { class: 'dim' }, 'Select an actor: its handlers are shown here, each with a form.'));
    fill(title, `Handlers of ${a.name || short(a.address)}`);
    fill(forms, a.undescribed ? h('p', { class: 'warn' }, a.undescribed) : null, a.handlers.map((/** @type {any} */ handler) => handlerForm(a, handler, r.params.q === handler.name, schema)));
  }
  return {
    el,
    /** @param {route.Route} r */
    draw(r) { list(r); },
  };
}

// @ts-check
import { devnetCommand, get, encodePathPart, post } from '../api.js';
import { formatCount, formatMoney, formatPlural } from '../format.js';
import { makeActionButton, makeFactList, fillElement, h, makeLink, makeTable, makeRefusalNote } from '../kit.js';
import { makeFaultButtons } from '../faults.js';
import { momentOf } from '../moment.js';
import * as names from '../names.js';
import { nameOf, makeNameLink } from '../names.js';
import { thingHref, viewHref } from '../route.js';
import * as store from '../store.js';
import { makeNodeLog } from './validator.js';

/** @type {import('../drawer.js').Kind} */
export const runner = {
  word: 'runner',
  present: 'Its log is',
  json: (id) => `/runner/${encodePathPart(id)}`,
  command: (id) => `runner show ${id}`,
  make: (id) => {
    const top = h('div');
    const mine = !id.startsWith('0x');
    const log = mine ? makeNodeLog(id) : null;
    const orders = mine ? makeFaultButtons('runner', id) : null;
    /** @type {any} */
    let r = null;
    let last = '';
    return {
      el: h('div', { class: 'thing' }, top, mine ? [h('h3', { class: 'cheats' }, 'Faults'), orders?.el, h('div', { class: 'orders cheats' }, makeActionButton('leave', devnetCommand(`runner leave ${id}`), async () => {
        await post('/devnet/runner/leave', { runner: id });
        return `${id} leaves`;
      }))] : null, log?.el),
      async load(signal) {
        r = await get(`/runner/${encodePathPart(id)}`, { at: momentOf() }, signal).catch((e) => {
          if (!r && !signal.aborted) fillElement(top, makeRefusalNote(e));
          throw e;
        });
        await log?.load(signal);
      },
      draw() {
        orders?.draw();
        if (!r || !store.latestBeat) return;
        const text = JSON.stringify(r) + names.versionText();
        if (text === last) return;
        last = text;
        fillElement(top, makeFactList([['health', h('span', { 'data-tone': r.health === 'Healthy' ? 'good' : 'bad' }, r.health)], ['present', r.present ? 'yes' : h('span', { 'data-tone': 'bad' }, 'no')], ['accepting', r.accepting ? 'yes' : 'no'],
          ['address', r.address], ['owner', r.owner === r.address ? '' : makeNameLink(r.owner)], ['place in the registry', formatCount(r.index)], ['stake', formatMoney(r.stake)], ['reputation', formatCount(r.reputation)], ['refusals', r.refusals ? formatCount(r.refusals) : ''], ['jobs', `${r.active_jobs} of ${r.max_concurrent_jobs}`],
          ['subset', r.subset.map((/** @type {string} */ a) => [r.connected && h('span', { 'data-tone': r.connected.includes(a) ? 'good' : 'bad' }, r.connected.includes(a) ? '✓' : '✗'), makeNameLink(a), ' '])],
          ['also connected to', r.connected?.filter((/** @type {string} */ a) => !r.subset.includes(a)).map((/** @type {string} */ a) => [makeNameLink(a), ' '])],
          ['capabilities', r.capabilities.join(', ')], ['entitlements', r.entitlements.join(', ')], ['registered at', formatCount(r.registered_at)], ['last heartbeat', formatCount(r.last_heartbeat)], ['stake returns at', r.stake_returns ? formatCount(r.stake_returns) : '']]),
        h('p', null, makeLink(viewHref('jobs', { runner: id }), 'its jobs')),
        r.heard.length ? [h('h3', null, `What validators heard${r.heard.length > 30 ? `: the latest 30 of ${formatPlural(r.heard.length, 'event')}` : ''}`), makeTable(['block', 'what', 'validator', 'why'], r.heard.slice(-30).reverse().map((/** @type {any} */ e) => [makeLink(thingHref(`block:${e.height}`), formatCount(e.height)), e.what, nameOf(e.validator), e.reason]))] : null);
      },
    };
  },
};

// @ts-check
import { formatCount, formatDuration, joinNames } from '../format.js';
import { makeFactList, fillElement, h, makeLink, makeTable, makeTerm } from '../kit.js';
import * as names from '../names.js';
import { thingHref } from '../route.js';
import * as store from '../store.js';
import { describeSimilarFailures, explainFailedView } from '../because.js';
import { CAUSES } from '../words.js';

/** @type {import('../drawer.js').Kind} */
export const view = {
  word: 'view',
  json: (id) => `/views?from=${Number(id)}&to=${Number(id)}`,
  command: (id) => `curl '${location.origin}/views?from=${Number(id)}&to=${Number(id)}'`,
  make: (id) => {
    const el = h('div', { class: 'thing' });
    let last = '';
    return {
      el,
      draw() {
        const v = store.views.get(Number(id));
        // those that failed alike are counted
        store.fillGap('views', store.RING_SIZE);
        if (!v) store.fillGap('views', 1, Number(id));
        const faults = (store.latestBeat?.faults || []).map((/** @type {any} */ f) => [f.began_ms, f.ended_ms]);
        const text = v ? JSON.stringify([v, names.versionText(), v.outcome === 'final' ? 0 : faults, describeSimilarFailures(v)]) : String(Boolean(store.latestBeat) && store.isViewAbsent(Number(id)));
        if (text === last) return;
        last = text;
        // it is asked for
        if (text === 'false') return void el.replaceChildren();
        if (!v) return void fillElement(el, h('p', { class: 'dim' }, `Nothing is known of view ${id}: the devnet keeps the latest 4,096 since it was started.`));
        const all = (store.latestBeat?.nodes || []).map((/** @type {any} */ n) => n.name);
        const silent = all.filter((/** @type {string} */ n) => ![...v.notarize, ...v.nullify, ...v.finalize].includes(n));
        fillElement(el, h('p', { class: 'sentence' }, `View ${v.view}${v.leader ? ` of ${v.leader}` : ''}: ${v.text || v.outcome}`),
          explainFailedView(v), describeSimilarFailures(v) ? h('p', { class: 'dim' }, describeSimilarFailures(v)) : null,
          makeFactList([['outcome', h('span', { 'data-tone': v.outcome === 'final' ? 'good' : v.outcome === 'nullified' ? 'bad' : 'warn' }, v.outcome)], ['leader', v.leader], ['epoch', formatCount(v.epoch)],
            ['block', v.height === null ? '' : makeLink(thingHref(`block:${v.height}`), formatCount(v.height))], ['took', v.took === null ? '' : formatDuration(v.took / 1000)],
            ['to notarize', joinNames(v.notarize)], ['to finalize', joinNames(v.finalize)], ['to nullify', joinNames(v.nullify)], ['silent', joinNames(silent)]]),
          v.gaveUp.length ? [h('h3', null, 'Who gave it up'), makeTable(['validator', 'cause', 'what happened'], v.gaveUp.map((g) => [makeLink(thingHref(`validator:${g.validator}`), g.validator), makeTerm(g.cause.replaceAll('_', ' ')), g.detail || CAUSES[g.cause] || '']))] : null,
          h('p', null, makeLink(thingHref(`view:${v.view - 1}`), '‹ before'), ' ', makeLink(thingHref(`view:${v.view + 1}`), 'next ›')));
      },
    };
  },
};

// @ts-check
// Views: each that failed as a sentence, with its cause and who gave it up.
import { devnetCommand } from '../api.js';
import { formatTime, formatCount, formatPlural } from '../format.js';
import { writeAttribute, makeEmptyNote, fillElement, h, showIf, writeText } from '../kit.js';
import { makeOlderLink, makeRowTable, wantedRows } from '../rows.js';
import { makeSpaceTimeChart } from '../lanes.js';
import { makePresentNote } from '../moment.js';
import { CAUSES } from '../words.js';
import * as route from '../route.js';
import * as store from '../store.js';

export const views = { id: 'views', title: 'Views', key: 'v', make: makeViewsView };

const ROWS = 60;

/**
 * A view that was nullified, or an open one that validators gave up.
 * @param {store.View} v
 */
const didFail = (v) => v.outcome === 'nullified' || v.outcome === 'open' && v.cause !== '';

function makeViewsView() {
  const sum = h('p', { class: 'sentence' });
  const causes = h('div', { class: 'choices', role: 'group', 'aria-label': 'causes' });
  const all = h('a', { href: '#' }, 'all views');
  const none = h('div');
  const table = makeRowTable({
    label: 'views', size: ROWS, href: (v) => route.thingHref(`view:${v.view}`), sel: (v) => `view:${v.view}`, columns: /** @type {import('../rows.js').Column<store.View>[]} */ ([
      { name: 'view', text: (v) => formatCount(v.view), main: true },
      { name: 'leader', text: (v) => v.leader },
      { name: 'outcome', kind: 'words', text: (v) => v.text || v.outcome, main: true, tone: (v) => (didFail(v) ? 'bad' : '') },
      { name: 'cause', text: (v) => v.cause.replaceAll('_', ' '), title: (v) => CAUSES[v.cause] || '' },
      { name: 'block', kind: 'num', text: (v) => (v.height === null ? '' : formatCount(v.height)) },
      { name: 'began', text: (v) => formatTime(v.began) },
    ]) });
  const older = makeOlderLink('views', ROWS);
  const picture = makeSpaceTimeChart();
  const note = makePresentNote('Votes of the last view are');
  const el = h('div', { class: 'cards' }, h('section', { class: 'card whole' }, h('h2', null, 'Space-time'), note.el, picture.el), h('section', { class: 'card whole' }, h('div', { class: 'bar' }, h('h2', null, 'Views that failed'), all, causes), sum, table.el, older.el, none));
  let drawnCauses = '';
  return {
    el,
    /** @param {route.Route} r */
    draw(r) {
      store.fillGap('views', store.RING_SIZE);
      let list = store.views.last(store.RING_SIZE);
      const last = r.at === null ? null : store.viewAtHeight(r.at);
      const before = r.from === null ? null : store.viewAtHeight(r.from - 1);
      if (last !== null) list = list.filter((v) => v.view <= last);
      if (before !== null) list = list.filter((v) => v.view > before);
      picture.draw(r, list);
      note.draw(r);
      const bad = list.filter(didFail);
      const every = r.params.all === '1';
      const wanted = /^cause:(.+)$/.exec(r.params.q || '')?.[1] || '';
      const shown = (every ? list : bad).filter((v) => !wanted || v.cause === wanted);
      const rows = wantedRows(r.params, ROWS);
      table.set(shown.slice(-rows).reverse(), r.sel);
      older.set(rows, shown.length > rows);
      writeText(sum, list.length ? `Validators gave up ${formatPlural(bad.length, 'view')} of the last ${formatCount(list.length)}; nullified since the devnet began: ${formatCount(store.latestBeat?.views?.failed ?? bad.length)}.` : '');
      writeAttribute(all, 'href', route.hrefWith({ all: every ? '' : '1' }));
      writeText(all, every ? 'failed ones only' : 'all views');
      const counts = /** @type {{[cause: string]: number}} */ ({});
      for (const v of bad) counts[v.cause || 'other'] = (counts[v.cause || 'other'] || 0) + 1;
      const key = JSON.stringify([counts, wanted, location.hash]);
      if (key !== drawnCauses) {
        drawnCauses = key;
        fillElement(causes, Object.entries(counts).sort((a, b) => b[1] - a[1]).map(([cause, n]) => h('a', { href: route.hrefWith({ q: wanted === cause ? '' : `cause:${cause}` }), 'aria-current': wanted === cause ? 'true' : null }, `${cause.replaceAll('_', ' ')} ${n}`)),
          wanted && !counts[wanted] ? h('a', { href: route.hrefWith({ q: '' }), 'aria-current': 'true' }, `${wanted} 0`) : null);
      }
      const why = shown.length ? '' : !list.length ? 'no view' : 'no failed view';
      showIf(none, !shown.length);
      if (none.dataset.why !== why) {
        none.dataset.why = why;
        fillElement(none, !why ? null : list.length ? makeEmptyNote('No view failed: each leader proposed, and enough votes came in time. Make one fail:', devnetCommand('fault freeze v0')) : makeEmptyNote('No view is told of yet. The devnet keeps the latest 4,096 since it was started.'));
      }
    },
  };
}

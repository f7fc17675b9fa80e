// @ts-check
// The frame: bar, views, drawer, time bar, keys.
import { formatCount, formatPlural, formatRate, formatDuration } from './format.js';
import { writeAttribute, fillElement, h, markClass, showIf, writeText } from './kit.js';
import { faultsNow } from './moment.js';
import { findAilment } from './ring.js';
import { mergeTroubles } from './troubles.js';
import { repaintCharts } from './chart.js';
import * as drawer from './drawer.js';
import * as keys from './keys.js';
import * as names from './names.js';
import { checkLinkChain } from './origin.js';
import * as route from './route.js';
import { makeSearchBox } from './search.js';
import * as store from './store.js';
import { kinds } from './things/all.js';
import { makeTimeBar } from './timebar.js';
import { network } from './views/network.js';
import { blocks } from './views/blocks.js';
import { views } from './views/views.js';
import { timers } from './views/timers.js';
import { actors } from './views/actors.js';
import { runners } from './views/runners.js';
import { jobs } from './views/jobs.js';
import { txs } from './views/txs.js';

/** @typedef {{id: string, title: string, key: string, make: () => {el: any, draw: (r: route.Route) => void}}} Place */

/** @type {Place[]} */
const places = [network, blocks, views, timers, actors, runners, jobs, txs];
/** @type {Map<string, {el: any, draw: (r: route.Route) => void}>} */
const openViews = new Map();
let currentRoute = route.readRoute();

const main = /** @type {any} */ (document.getElementById('main'));
const viewLinks = new Map(places.map((p) => [p.id, h('a', { href: route.makeHref(p.id), title: `g ${p.key}` }, p.title)]));
fillElement(/** @type {any} */ (document.getElementById('views')), [...viewLinks.values()]);

const chain = h('strong', { class: 'brand' }, 'devnet');
const height = h('span', { class: 'height' });
const pace = h('span', { class: 'dim pace' });
const state = h('span', { class: 'state' });
const announcement = h('span', { class: 'unseen', 'aria-live': 'polite' });
const themeButton = h('button', { type: 'button', class: 'plain', title: 'dark or light', 'aria-label': 'dark or light', onclick: toggleTheme }, '◐');
const search = makeSearchBox();
fillElement(/** @type {any} */ (document.getElementById('bar')), chain, height, pace, state, announcement, search.el,
  h('button', { type: 'button', class: 'plain', title: 'keys (?)', 'aria-label': 'keys', onclick: () => keys.showHelp() }, '?'), themeButton);

const timeFooter = makeTimeBar();
fillElement(/** @type {any} */ (document.getElementById('time')), timeFooter.el);
drawer.mountIn(/** @type {any} */ (document.getElementById('drawer')), kinds);

try { applyTheme(localStorage.getItem('theme') || ''); } catch { /* it follows the system */ }

/** @param {string} name */
function applyTheme(name) {
  if (name === 'dark' || name === 'light') document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  repaintCharts();
}

function toggleTheme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  applyTheme(dark ? 'light' : 'dark');
  try { localStorage.setItem('theme', dark ? 'light' : 'dark'); } catch { /* nothing is kept */ }
}

/** @param {route.Route} next */
function showRoute(next) {
  const place = places.find((p) => p.id === next.view) || places[0];
  // there is no such view
  if (place.id !== next.view) return route.replaceView(place.id);
  const isAnother = !openViews.has(place.id) || currentRoute.view !== next.view;
  currentRoute = next;
  if (!openViews.has(place.id)) openViews.set(place.id, place.make());
  if (isAnother) {
    fillElement(main, h('h1', { class: 'unseen' }, place.title), /** @type {any} */ (openViews.get(place.id)).el);
    document.title = `${place.title} · devnet`;
    scrollTo(0, 0);
  }
  for (const [id, a] of viewLinks) {
    writeAttribute(a, 'href', route.makeHref(id, route.momentParams()));
    if (id === place.id) {
      writeAttribute(a, 'aria-current', 'page');
      if (isAnother) centreTab();
    } else a.removeAttribute('aria-current');
  }
  drawer.openThing(next.sel);
  drawPage();
  return undefined;
}

/** centreTab has the name of the view in sight, where there is no room for all names. */
function centreTab() {
  const a = viewLinks.get(currentRoute.view);
  if (a) a.parentElement.scrollLeft = a.offsetLeft - (a.parentElement.clientWidth - a.offsetWidth) / 2;
}

let announcedAt = 0;

function drawPage() {
  drawBar();
  openViews.get(currentRoute.view)?.draw(currentRoute);
  drawer.drawThing();
  timeFooter.draw(currentRoute, describeState()[1]);
  names.refreshNames();
  writeAttribute(main, 'aria-busy', String(!store.latestBeat || !names.areKnown || store.takeGapSign()));
}

function drawBar() {
  const ready = store.latestBeat?.ready;
  writeText(chain, ready ? `devnet ${ready.chain_id}` : 'devnet');
  writeAttribute(chain, 'title', ready ? `${ready.version} · genesis ${ready.genesis}` : '');
  writeText(height, store.latestBeat ? `height ${formatCount(store.headHeight())}` : '');
  const [text, tone] = describeState();
  const perSecond = store.measurePace();
  writeText(pace, perSecond && !ready?.paused && !store.lostAt ? `${formatRate(perSecond)}/s` : '');
  writeText(state, text);
  writeAttribute(state, 'data-tone', tone);
  writeAttribute(state, 'title', ready?.hint || '');
  markClass(document.body, 'strict', Boolean(ready?.strict));
  markClass(document.body, 'lost', Boolean(store.lostAt));
  if (performance.now() - announcedAt > 5000 && store.latestBeat) {
    announcedAt = performance.now();
    writeText(announcement, `height ${store.headHeight()}, ${text}`);
  }
}

/**
 * describeState returns the state of the network in words, and its tone.
 * @returns {[string, string]}
 */
function describeState() {
  const b = store.latestBeat;
  if (store.lostAt) return [`no answer for ${formatDuration(performance.now() - store.lostAt)}`, 'bad'];
  if (!b) return ['connecting', 'dim'];
  if (!b.ready) return ['no validator answers', 'bad'];
  if (currentRoute.from !== null && currentRoute.at !== null) return [`${formatCount(currentRoute.from)} to ${formatCount(currentRoute.at)}, not following`, 'warn'];
  if (currentRoute.at !== null && currentRoute.at > store.headHeight()) return [`block ${formatCount(currentRoute.at)} is not final yet`, 'warn'];
  if (currentRoute.at !== null) return [`at ${formatCount(currentRoute.at)}, not following`, 'warn'];
  if (b.ready.held) return [`held at ${b.ready.held}`, 'warn'];
  if (b.ready.paused) return ['paused', 'warn'];
  if (b.ready.stalled) return [b.ready.stalled, b.ready.blocked ? 'bad' : 'warn'];
  const ailingValidators = b.nodes.filter((/** @type {any} */ n) => findAilment(b.nodes, n));
  const runnersDown = b.runners.all - b.runners.ready;
  const live = b.ready.strict ? 'live, strict' : 'live';
  // as the card of the network lists them
  const troubles = mergeTroubles(b.ready.troubles || []).length;
  const faults = faultsNow().length;
  const parts = [ailingValidators.length && (ailingValidators.length > 1 ? `${ailingValidators.length} validators ail` : `${ailingValidators[0].name} ${findAilment(b.nodes, ailingValidators[0])}`), runnersDown && `${formatPlural(runnersDown, 'runner')} not ready`,
    troubles && formatPlural(troubles, 'trouble'), faults && `${formatPlural(faults, 'fault')} in force`].filter(Boolean);
  return [[live, ...parts].join(', '), parts.length ? 'warn' : 'good'];
}

/** @type {any} */ (document.querySelector('.skip')).addEventListener('click', (/** @type {Event} */ e) => {
  // what stands behind # is the state
  e.preventDefault();
  main.focus();
});
addEventListener('resize', centreTab);
keys.listenForKeys({ places: places.map((p) => ({ id: p.id, key: p.key, title: p.title })), search: search.focus, main, shown: timeFooter.shown });
store.listenToBeats(drawPage);
setInterval(() => { if (store.lostAt || !store.latestBeat) drawBar(); }, 1000);
store.followNetwork();
route.listenToRoutes(showRoute);
route.listenToRoutes(checkLinkChain);
showIf(main, true);

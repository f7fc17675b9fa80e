// @ts-check
import { devnetCommand, get, encodePathPart, post } from '../api.js';
import { formatCount, formatDuration } from '../format.js';
import { makeActionButton, makeTextBlock, makeChoice, makeFactList, fillElement, h, makeLink, trackLatestCall, makeCommandLine } from '../kit.js';
import { makeFaultButtons } from '../faults.js';
import { findAilment, toneOf } from '../ring.js';
import { thingHref } from '../route.js';
import * as store from '../store.js';

/** @type {import('../drawer.js').Kind} */
export const validator = {
  word: 'validator',
  present: 'State, height and votes are',
  json: () => '/validators',
  command: (id) => `validator show ${id}`,
  make: (id) => {
    const top = h('div');
    const votes = h('p', { class: 'votes' });
    const orders = makeFaultButtons('validator', id);
    const moves = h('div', { class: 'orders cheats' }, makeActionButton('leave', devnetCommand(`validator leave ${id}`), async () => {
      const m = await post('/devnet/validator/leave', { name: id });
      return `${m.name} leaves at height ${formatCount(m.height)}`;
    }));
    const log = makeNodeLog(id);
    let last = '';
    let lastVotes = '';
    return {
      el: h('div', { class: 'thing' }, top, h('h3', null, 'Its votes in the last views'), votes, h('p', { class: 'dim small' }, '✓ finalized, + notarized, ✗ gave up, · none'), h('h3', { class: 'cheats' }, 'Faults'), orders.el, moves, log.el),
      load: log.load,
      draw() {
        const n = store.latestBeat?.nodes.find((/** @type {any} */ v) => v.name === id || v.address === id);
        const text = JSON.stringify(n) + store.headHeight() + findAilment(store.latestBeat?.nodes || [], n || {});
        if (text !== last) {
          last = text;
          fillElement(top, n ? makeFactList([['state', h('span', { 'data-tone': toneOf(store.latestBeat.nodes, n) }, findAilment(store.latestBeat.nodes, n) || 'runs')], ['status', n.status],
            ['address', n.address], ['height', n.elsewhere ? 'not known here' : [formatCount(n.height), makeLagNote(n.height)]], ['view', n.elsewhere ? '' : makeLink(thingHref(`view:${n.view}`), formatCount(n.view))],
            ['peers', n.elsewhere ? '' : formatCount(n.peers)], ['runners', n.elsewhere ? '' : formatCount(n.runners)], ['dead letters', n.dead_letters ? formatCount(n.dead_letters) : ''], ['made again', n.restarted ? formatCount(n.restarted) : '']])
            : h('p', null, `No validator is called ${id}.`));
        }
        orders.draw();
        store.fillGap('views', 24);
        const voted = JSON.stringify(store.views.last(24).map((v) => [v.view, voteOf(v, id)]));
        if (voted === lastVotes) return;
        lastVotes = voted;
        fillElement(votes, store.views.last(24).map((v) => h('a', { class: 'vote', href: thingHref(`view:${v.view}`), 'data-vote': voteOf(v, id), title: `view ${v.view}: ${describeVote(v, id)}` }, LETTER[voteOf(v, id)])));
      },
    };
  },
};

/** @param {number} height */
function makeLagNote(height) {
  const by = store.headHeight() - height;
  return by > 2 ? h('span', { 'data-tone': 'warn' }, ` ${formatCount(by)} behind`) : null;
}

/** @type {{[vote: string]: string}} */
export const LETTER = { final: '✓', notarize: '+', nullify: '✗', silent: '·' };

/**
 * voteOf is how a validator voted in a view.
 * @param {store.View} v
 * @param {string} name
 */
export function voteOf(v, name) {
  if (v.finalize.includes(name)) return 'final';
  if (v.nullify.includes(name)) return 'nullify';
  return v.notarize.includes(name) ? 'notarize' : 'silent';
}

/**
 * @param {store.View} v
 * @param {string} name
 */
export function describeVote(v, name) {
  const gave = v.gaveUp.find((g) => g.validator === name);
  const lead = v.leader === name ? ', leads' : '';
  const took = v.took === null ? '' : `, ${formatDuration(v.took / 1000)}`;
  return { final: 'voted to finalize', notarize: 'voted to notarize', nullify: `gave it up${gave ? ': ' + gave.cause.replaceAll('_', ' ') : ''}`, silent: 'no vote seen' }[voteOf(v, name)] + lead + took;
}

/**
 * makeNodeLog returns the end of a node's log, where it is opened.
 * @param {string} name
 */
export function makeNodeLog(name) {
  const place = h('div');
  const level = makeChoice('at least', ['', 'INFO', 'WARN', 'ERROR'], 'INFO');
  const el = h('details', null, h('summary', null, 'log'), level.el, place, makeCommandLine(devnetCommand(`logs ${name} -f`)));
  let last = '';
  const trackCall = trackLatestCall();
  const load = async (/** @type {AbortSignal|undefined} */ signal) => {
    if (!el.open) return;
    const latest = trackCall();
    try {
      const log = await get(`/nodes/${encodePathPart(name)}/log`, { limit: 60, level: level.input.value }, signal);
      const text = log.lines.map((/** @type {any} */ l) => l.text).join('\n');
      if (!latest() || text === last) return;
      last = text;
      fillElement(place, text ? makeTextBlock(text) : h('p', { class: 'dim' }, 'It logged nothing of that level.'));
      const pre = place.querySelector('pre');
      if (pre) pre.scrollTop = pre.scrollHeight;
    } catch (e) {
      if (!latest()) return;
      last = '';
      fillElement(place, h('p', { class: 'dim' }, /** @type {any} */ (e).message));
    }
  };
  el.addEventListener('toggle', () => load(undefined));
  level.input.addEventListener('change', () => { last = ''; load(undefined); });
  return { el, load };
}

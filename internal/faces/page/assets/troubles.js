// @ts-check
// Troubles: what ails the network though blocks may be made, each once, with what to do.
import { devnetCommand } from './api.js';
import { shortenID, joinNames } from './format.js';
import { fillElement, h, makeLink, makeCommandLine } from './kit.js';
import { makeHealButton } from './faults.js';
import { makeNameLink } from './names.js';
import { findAilment } from './ring.js';
import { thingHref } from './route.js';
import * as store from './store.js';

/** What to do about a trouble, where it does not say that itself: the first whose words are in it. */
const REMEDIES = /** @type {[RegExp, string, string][]} */ ([
  [/host|program|Python/i, 'The item is left for a later block, and another proposer tries. Where all fail on it, it ends as host_failed.', 'doctor'],
  [/neither proposes nor votes/, 'Its votes are missing for a quorum. Its log says what it lost.', ''],
]);

/**
 * linkMentions returns the words of a trouble, with links where it names an execution or an account.
 * @param {string} text
 */
function linkMentions(text) {
  return text.split(/(0x[0-9a-f]{40,64})/).map((part) => (/^0x[0-9a-f]{64}$/.test(part) ? makeLink(thingHref(`hash:${part}`), shortenID(part)) : /^0x[0-9a-f]{40}$/.test(part) ? makeNameLink(part) : part));
}

/**
 * mergeTroubles puts those of one kind under the names of all nodes that have them.
 * @param {string[]} list
 * @returns {{nodes: string[], text: string, ago: string}[]}
 */
export function mergeTroubles(list) {
  /** @type {Map<string, {nodes: string[], text: string, ago: string}>} */
  const all = new Map();
  for (const one of list) {
    const m = /^(\S+), (\S+) ago: (.*)$/s.exec(one);
    const key = m ? m[3] : one;
    const before = all.get(key);
    if (before && m) before.nodes.push(m[1]);
    else all.set(key, { nodes: m ? [m[1]] : [], text: key, ago: m ? m[2] : '' });
  }
  return [...all.values()];
}

/** makeTroubleList returns the card's content; draw returns whether there is any. */
export function makeTroubleList() {
  const list = h('ul', { class: 'plainlist' });
  let drawnKey = '';
  return {
    el: list,
    draw() {
      const b = store.latestBeat;
      const ready = b?.ready;
      const down = (b?.nodes || []).map((/** @type {any} */ n) => ({ name: n.name, why: findAilment(b.nodes, n) })).filter((/** @type {any} */ n) => n.why);
      const key = JSON.stringify([ready?.troubles, ready?.stalled, ready?.hint, down]);
      const any = Boolean(ready && (ready.stalled || ready.troubles?.length || down.length));
      if (key === drawnKey) return any;
      drawnKey = key;
      fillElement(list, ready?.stalled ? h('li', null, h('strong', { 'data-tone': ready.blocked ? 'bad' : 'warn' }, 'Blocks wait: '), linkMentions(ready.stalled), h('p', { class: 'dim' }, ready.hint), /devnet heal/.test(ready.hint || '') ? h('p', { class: 'cheats' }, makeHealButton()) : null) : null,
        mergeTroubles(ready?.troubles || []).map(({ nodes, text, ago }) => {
          const todo = REMEDIES.find(([what]) => what.test(text));
          const node = nodes[0] || /\bv\d+\b/.exec(text)?.[0];
          return h('li', null, nodes.length ? [h('strong', null, joinNames(nodes)), `, ${ago} ago: `] : null, linkMentions(text), todo ? h('p', { class: 'dim' }, todo[1]) : null,
            todo?.[2] || node ? makeCommandLine(devnetCommand(todo?.[2] || `logs ${node}`)) : null);
        }),
        down.map((/** @type {any} */ n) => h('li', null, makeLink(thingHref(`validator:${n.name}`), n.name), `: ${n.why}`)));
      return any;
    },
  };
}

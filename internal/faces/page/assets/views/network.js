// @ts-check
// Network: who is linked with whom, who voted how, what is wrong, and who made it so.
import { formatCount, formatPlural, joinNames } from '../format.js';
import { runOrder, makeCopyButton, fillElement, h, makeLink, showNotice, showIf, writeText } from '../kit.js';
import { effectWords, makeEndButton, faultWords, makeHealButton, makeLinkForm, makeFault, faultCommand } from '../faults.js';
import { makeFeed } from '../feed.js';
import { faultsAt, faultsNow, isPast, linksAt, nodesAt, makePresentNote } from '../moment.js';
import { findAilment, linkWords, MOST_VALIDATORS, makeRing, toneOf } from '../ring.js';
import { makeLinkMatrix } from '../matrix.js';
import { makeRowTable } from '../rows.js';
import { thingHref } from '../route.js';
import { makeSteering } from '../steering.js';
import * as store from '../store.js';
import { LINK_VERBS } from '../verbs.js';
import { makeTroubleList } from '../troubles.js';
import { makeVoteChart } from '../votes.js';

export const network = { id: 'network', title: 'Network', key: 'n', make: makeNetworkView };

function makeNetworkView() {
  const line = h('p', { class: 'sentence' });
  const offer = h('div', { class: 'offer', hidden: true, role: 'group', 'aria-label': 'a partition to be made' });
  const circle = makeRing((side) => proposePartition(side));
  const grid = makeLinkMatrix();
  const legend = h('p', { class: 'dim small' }, '★ leads. Bar and first number: height. A runner has links with several nodes.');
  const hint = h('p', { class: 'dim small cheats' }, 'Draw a line across links to cut them.');
  const voteChart = makeVoteChart();
  const table = makeRowTable({
    label: 'validators', size: 24, href: (n) => thingHref(`validator:${n.name}`), sel: (n) => `validator:${n.name}`, columns: [
      { name: 'node', text: (n) => n.name || n.address, main: true },
      { name: 'state', text: (n) => findAilment(store.latestBeat.nodes, n) || (n.then ? 'no fault' : n.status === 'active' ? 'runs' : n.status), tone: (n) => toneOf(store.latestBeat.nodes, n), main: true },
      { name: 'height', kind: 'num', text: (n) => (n.elsewhere || n.then ? '' : formatCount(n.height)), main: true },
      { name: 'view', kind: 'num', text: (n) => (n.elsewhere || n.then ? '' : formatCount(n.view)) },
      { name: 'runners', kind: 'num', text: (n) => (n.elsewhere || n.then ? '' : n.runners) },
    ] });
  const more = h('p', { class: 'dim small' });
  const faults = h('div', { class: 'faults' });
  const linkList = h('ul', { class: 'plainlist' });
  const oddSummary = h('summary');
  const oddLinks = h('details', { hidden: true }, oddSummary, linkList);
  const waiting = h('ul', { class: 'plainlist' });
  const troubleList = makeTroubleList();
  const feedList = makeFeed();
  const pastNote = h('p', { class: 'present', hidden: true });
  const notes = [makePresentNote('Links and nodes are'), makePresentNote('States, heights and views are'), makePresentNote('Faults are')];
  const noteOfVotes = makePresentNote('Votes are');
  const sides = h('div', { class: 'orders' });
  const steeringPart = makeSteering();
  let drawnSides = '';
  /** @type {Set<string>} */
  const chosen = new Set();

  const trouble = h('section', { class: 'card troubles', hidden: true }, h('h2', null, 'Troubles'), h('p', { class: 'present', hidden: true }), troubleList.el);
  const el = h('div', { class: 'cards columns' },
    h('div', { class: 'column' },
      trouble,
      h('section', { class: 'card' }, h('h2', null, 'Validators'), notes[0].el, pastNote, line, circle.el, grid.el, legend, hint, offer),
      h('section', { class: 'card' }, h('h2', null, 'Votes of the last views'), noteOfVotes.el, voteChart.el)),
    h('div', { class: 'column' },
      h('section', { class: 'card' }, h('h2', null, 'What happens'), feedList.el),
      h('section', { class: 'card' }, h('h2', null, 'Nodes'), notes[1].el, table.el, more, waiting),
      h('section', { class: 'card cheats' }, h('h2', null, 'Faults in force'), notes[2].el, faults, oddLinks,
        h('details', null, h('summary', null, 'partition by names'), h('p', { class: 'dim small' }, 'Those that are chosen reach one another only.'), sides),
        h('details', null, h('summary', null, 'a link that is slow or loses packets'), makeLinkForm(() => (store.latestBeat?.nodes || []).map((/** @type {any} */ n) => n.name)))),
      h('section', { class: 'card cheats' }, h('h2', null, 'Time'), steeringPart.el)));

  /** @param {string[]} side */
  function proposePartition(side) {
    const order = { verb: 'partition', groups: [side, []] };
    const go = h('button', { type: 'button', class: 'danger' }, 'cut');
    const close = () => showIf(offer, false);
    go.addEventListener('click', () => runOrder(go, async () => {
      const told = await makeFault(order);
      close();
      return told;
    }));
    fillElement(offer, h('span', null, `${side.join(' and ')} cut off from all others: `), go, makeCopyButton(faultCommand(order), '$', 'copy as command: partition'), h('button', { type: 'button', class: 'plain', onclick: close }, 'not now'));
    showIf(offer, true);
    go.focus();
  }

  /** @param {any[]} nodes */
  function offerSides(nodes) {
    const key = nodes.map((n) => n.name).join(' ');
    if (key === drawnSides) return;
    drawnSides = key;
    chosen.clear();
    fillElement(sides, nodes.map((n) => {
      const box = h('input', { type: 'checkbox' });
      box.addEventListener('change', () => { if (box.checked) chosen.add(n.name); else chosen.delete(n.name); });
      return h('label', { class: 'chip' }, box, n.name);
    }), h('button', { type: 'button', onclick: () => (chosen.size ? proposePartition([...chosen]) : showNotice('Choose who is cut off.', 'wrong')) }, 'partition…'));
  }

  let drawnFaults = '';
  /**
   * @param {any[]} list
   * @param {boolean} past
   */
  function drawFaults(list, past) {
    const text = JSON.stringify([list, past]);
    if (text === drawnFaults) return;
    drawnFaults = text;
    if (!list.length) return void fillElement(faults, h('p', { class: 'dim' }, past ? 'None was in force.' : 'None. Draw a line across links, or open a node.'));
    fillElement(faults, h('ul', { class: 'plainlist' }, list.slice(-40).reverse().map((/** @type {any} */ f) => h('li', null, faultWords(f), effectWords(f) ? h('small', null, ' · ' + effectWords(f)) : null, ' ',
      past ? h('small', null, f.ended ? ' · it has ended since' : ' · it lasts still') : f.order && LINK_VERBS.includes(f.verb) ? null : makeEndButton(f)))),
    list.length > 40 ? h('p', { class: 'dim' }, `and ${formatCount(list.length - 40)} older ones: devnet fault list`) : null,
    !past && list.some((/** @type {any} */ f) => LINK_VERBS.includes(f.verb)) ? h('p', null, makeHealButton()) : null);
  }

  return {
    el,
    /** @param {import('../route.js').Route} r */
    draw(r) {
      const b = store.latestBeat;
      if (!b) return;
      const past = isPast(r);
      const forces = past ? faultsAt(/** @type {number} */ (r.at)) : null;
      const nodes = forces ? nodesAt(b.nodes, forces) : b.nodes;
      const links = forces ? linksAt(b.nodes, forces) : b.links;
      const seen = past ? store.viewAtHeight(/** @type {number} */ (r.at)) : null;
      const view = seen !== null && seen >= (b.views?.kept_from || Infinity) ? seen : null;
      const last = forces && view !== null ? store.views.get(view) : store.views.last(1)[0];
      // Where faults of then are not known, all is of the present.
      for (const note of notes) if (forces) showIf(note.el, false); else note.draw(r);
      if (view === null) noteOfVotes.draw(r); else showIf(noteOfVotes.el, false);
      showIf(pastNote, forces !== null);
      if (forces) writeText(pastNote, `As faults left it at block ${formatCount(/** @type {number} */ (r.at))}. Heights and connections of then are not kept, and the validators are those of now.`);
      const running = nodes.filter((/** @type {any} */ n) => n.running).length;
      writeText(line, `${last ? `View ${formatCount(last.view)}${last.leader ? `, ${last.leader} ${forces ? 'led' : 'leads'}` : ''}. ` : ''}${formatPlural(running, 'validator')} of ${nodes.length} ${forces ? 'ran' : running === 1 ? 'runs' : 'run'}.`);
      const few = nodes.length <= MOST_VALIDATORS;
      showIf(circle.el, few);
      showIf(hint, few);
      showIf(legend, few && !forces);
      showIf(grid.el, !few);
      if (few) circle.draw(nodes, links, last?.leader || '', store.headHeight());
      else grid.draw(nodes, links, store.headHeight());
      table.set(nodes);
      writeText(more, past || !b.runners.all ? '' : `${b.runners.ready} of ${formatPlural(b.runners.all, 'runner')} ready.`);
      writeLines(waiting, past ? [] : b.runners.waiting.slice(0, 12).map((/** @type {any} */ w) => [`runner:${w.name}`, w.name, w.missing.join('; ')]).concat(b.runners.waiting.length > 12 ? [['', '', `and ${b.runners.waiting.length - 12} more: devnet runner list`]] : []));
      showIf(trouble, troubleList.draw());
      showIf(trouble.children[1], past);
      if (past) writeText(trouble.children[1], `These are of the present, block ${formatCount(store.headHeight())}.`);
      const odd = (links?.links || []).filter((/** @type {any} */ l) => l.cut || l.rule || !l.up);
      showIf(oddLinks, odd.length > 0);
      writeText(oddSummary, describeOddLinks(odd));
      writeLines(linkList, odd.slice(0, 24).map((/** @type {any} */ l) => ['', `${l.from} → ${l.to}`, linkWords(l, l.cut ? 'cut' : l.up ? 'up' : 'down')]).concat(odd.length > 24 ? [['', '', `and ${formatCount(odd.length - 24)} more: devnet links`]] : []));
      voteChart.draw(nodes.map((/** @type {any} */ n) => n.name), view);
      drawFaults(forces || faultsNow(), forces !== null);
      offerSides(nodes);
      steeringPart.draw();
      feedList.draw(r);
    },
  };
}

/**
 * describeOddLinks says which links are cut, slow or down: of a node that is cut off from several, from how many.
 * @param {any[]} odd
 */
function describeOddLinks(odd) {
  const pairs = [...new Set(odd.map((l) => [l.from, l.to].sort(store.compareNames).join(' ')))].map((p) => p.split(' '));
  const counts = /** @type {Map<string, number>} */ (new Map());
  for (const n of pairs.flat()) counts.set(n, (counts.get(n) || 0) + 1);
  const [most, n] = [...counts].sort((a, b) => b[1] - a[1])[0] || ['', 0];
  const others = pairs.filter((p) => p.includes(most)).map((p) => (p[0] === most ? p[1] : p[0]));
  const runners = others.filter((o) => !store.latestBeat.nodes.some((/** @type {any} */ v) => v.name === o)).length;
  const kinds = [others.length - runners ? formatPlural(others.length - runners, 'validator') : '', runners ? formatPlural(runners, 'runner') : ''].filter(Boolean);
  return n === pairs.length && n > 1 ? `${formatPlural(n, 'link')} cut, slow or down: ${most} with ${joinNames(kinds)}` : `${formatPlural(pairs.length, 'link')} cut, slow or down`;
}

/**
 * writeLines writes nothing where the list is as before.
 * @param {any} el
 * @param {[string, string, string][]} list
 */
function writeLines(el, list) {
  const key = JSON.stringify(list);
  if (el.made === key) return;
  el.made = key;
  fillElement(el, list.map(([sel, name, text]) => h('li', null, sel ? makeLink(thingHref(sel), name) : h('strong', null, name), name ? ' ' : '', text)));
}


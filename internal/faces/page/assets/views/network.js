// @ts-check
// Network: who is linked with whom, who voted how, what is wrong, and who made it so.
import { count, plural } from '../format.js';
import { action, busy, copier, fill, h, link, say, show, write } from '../kit.js';
import { heal, linkForm, make, mends, typedFault } from '../faults.js';
import { behind, linkWords, MOST, ring } from '../ring.js';
import { matrix } from '../matrix.js';
import { pool } from '../rows.js';
import { selected } from '../route.js';
import { steering } from '../steering.js';
import * as store from '../store.js';
import { votes } from '../votes.js';

export const network = { id: 'network', title: 'Network', key: 'n', make: makeView };

function makeView() {
  const line = h('p', { class: 'sentence' });
  const offer = h('div', { class: 'offer', hidden: true, role: 'group', 'aria-label': 'a partition to be made' });
  const circle = ring((side) => propose(side));
  const grid = matrix();
  const legend = h('p', { class: 'dim small' }, '★ leads. The bar and the first number of a node are its height.');
  const hint = h('p', { class: 'dim small cheats' }, 'Draw a line across links to cut them.');
  const voted = votes();
  const table = pool({
    label: 'validators', size: 24, href: (n) => selected(`validator:${n.name}`), sel: (n) => `validator:${n.name}`, columns: [
      { name: 'node', text: (n) => n.name || n.address, main: true },
      { name: 'state', text: (n) => n.missing?.join('; ') || (n.running ? behind(store.now.nodes, n) || (n.status === 'active' ? 'runs' : n.status) : 'down'), tone: (n) => (n.missing?.length || !n.running ? 'bad' : behind(store.now.nodes, n) ? 'warn' : 'good'), main: true },
      { name: 'height', kind: 'num', text: (n) => (n.elsewhere ? '' : count(n.height)), main: true },
      { name: 'view', kind: 'num', text: (n) => (n.elsewhere ? '' : count(n.view)) },
      { name: 'runners', kind: 'num', text: (n) => (n.elsewhere ? '' : n.runners) },
    ] });
  const more = h('p', { class: 'dim small' });
  const faults = h('div', { class: 'faults' });
  const links = h('ul', { class: 'plainlist' });
  const odds = h('summary');
  const linked = h('details', { hidden: true }, odds, links);
  const waiting = h('ul', { class: 'plainlist' });
  const troubles = h('ul', { class: 'plainlist' });
  const sides = h('div', { class: 'orders' });
  const steer = steering();
  let sidesMade = '';
  /** @type {Set<string>} */
  const chosen = new Set();

  const el = h('div', { class: 'cards' },
    h('section', { class: 'card wide2' }, h('h2', null, 'Validators'), line, circle.el, grid.el, legend, hint, offer, troubles),
    h('section', { class: 'card' }, h('h2', null, 'Nodes'), table.el, more, waiting),
    h('section', { class: 'card' }, h('h2', null, 'Votes of the last views'), voted.el),
    h('section', { class: 'card cheats' }, h('h2', null, 'Faults in force'), faults, linked,
      h('details', null, h('summary', null, 'partition by names'), h('p', { class: 'dim small' }, 'Those that are chosen reach one another only.'), sides),
      h('details', null, h('summary', null, 'a link that is slow or loses packets'), linkForm(() => (store.now?.nodes || []).map((/** @type {any} */ n) => n.name)))),
    h('section', { class: 'card cheats' }, h('h2', null, 'Time'), steer.el));

  /** @param {string[]} side */
  function propose(side) {
    const order = { verb: 'partition', groups: [side, []] };
    const go = h('button', { type: 'button', class: 'danger' }, 'cut');
    const close = () => show(offer, false);
    go.addEventListener('click', () => busy(go, async () => {
      const told = await make(order);
      close();
      return told;
    }));
    fill(offer, h('span', null, `${side.join(' and ')} cut off from all others: `), go, copier(typedFault(order), '$', 'copy as command: partition'), h('button', { type: 'button', class: 'plain', onclick: close }, 'not now'));
    show(offer, true);
    go.focus();
  }

  /** @param {any[]} nodes */
  function offerSides(nodes) {
    const key = nodes.map((n) => n.name).join(' ');
    if (key === sidesMade) return;
    sidesMade = key;
    chosen.clear();
    fill(sides, nodes.map((n) => {
      const box = h('input', { type: 'checkbox' });
      box.addEventListener('change', () => { if (box.checked) chosen.add(n.name); else chosen.delete(n.name); });
      return h('label', { class: 'chip' }, box, n.name);
    }), h('button', { type: 'button', onclick: () => (chosen.size ? propose([...chosen]) : say('Choose who is cut off.', 'wrong')) }, 'partition…'));
  }

  let faultsMade = '';
  function drawFaults() {
    const list = (store.now?.faults || []).filter((/** @type {any} */ f) => !f.ended && f.verb !== 'heal' && f.verb !== 'restart' && f.verb !== 'thaw');
    const text = JSON.stringify(list);
    if (text === faultsMade) return;
    faultsMade = text;
    if (!list.length) return void fill(faults, h('p', { class: 'dim' }, 'None. Draw a line across links, or open a node.'));
    fill(faults, h('ul', { class: 'plainlist' }, list.slice(-40).reverse().map((/** @type {any} */ f) => {
      const end = mends(f);
      const kind = end?.node?.startsWith?.('r') && !store.now.nodes.some((/** @type {any} */ n) => n.name === end.node) ? 'runner' : 'validator';
      return h('li', null, h('strong', null, f.verb), ' ', f.detail, f.did ? h('small', null, ' · ' + f.did) : null, ' ', end ? action(end.verb === 'misbehave' ? 'honest' : end.verb === f.verb ? 'end' : end.verb, typedFault(end, kind), () => make(end)) : null);
    })), h('p', null, heal()));
  }

  return {
    el,
    draw() {
      const b = store.now;
      if (!b) return;
      const nodes = b.nodes;
      const last = store.views.last(1)[0];
      write(line, last ? `View ${count(last.view)}${last.leader ? `, ${last.leader} leads` : ''}. ${plural(nodes.filter((/** @type {any} */ n) => n.running).length, 'validator')} of ${nodes.length} run.`
        : `${plural(nodes.filter((/** @type {any} */ n) => n.running).length, 'validator')} of ${nodes.length} run.`);
      const few = nodes.length <= MOST;
      show(circle.el, few);
      show(hint, few);
      show(legend, few);
      show(grid.el, !few);
      if (few) circle.draw(nodes, b.links, last?.leader || '', store.head());
      else grid.draw(nodes, b.links, store.head());
      table.set(nodes);
      write(more, `${nodes.length > 24 ? `${nodes.length - 24} more validators. ` : ''}${b.runners.all ? `${b.runners.ready} of ${plural(b.runners.all, 'runner')} ready.` : ''}`);
      lines(waiting, b.runners.waiting.slice(0, 12).map((/** @type {any} */ r) => [`runner:${r.name}`, r.name, r.missing.join('; ')]));
      lines(troubles, (b.ready?.troubles || []).slice(0, 5).map((/** @type {string} */ t) => ['', '', t]));
      const odd = (b.links?.links || []).filter((/** @type {any} */ l) => l.cut || l.rule || !l.up).slice(0, 24);
      show(linked, odd.length > 0);
      write(odds, `${plural(odd.length, 'direction')} of links cut, slow or down`);
      lines(links, odd.map((/** @type {any} */ l) => ['', `${l.from} → ${l.to}`, linkWords(l, l.cut ? 'cut' : l.up ? 'up' : 'down')]));
      voted.draw(nodes.map((/** @type {any} */ n) => n.name));
      drawFaults();
      offerSides(nodes);
      steer.draw();
    },
  };
}

/**
 * lines writes a short list anew, where it differs.
 * @param {any} el
 * @param {[string, string, string][]} list
 */
function lines(el, list) {
  const key = JSON.stringify(list);
  if (el.made === key) return;
  el.made = key;
  fill(el, list.map(([sel, name, text]) => h('li', null, sel ? link(selected(sel), name) : h('strong', null, name), name ? ' ' : '', text)));
}


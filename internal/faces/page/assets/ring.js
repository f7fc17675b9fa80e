// @ts-check
// The network as a ring of validators: links as lines, height as a bar, the leader with a star. A line
// drawn across links is a partition. Elements are made once for each set of names.
import { formatCount, formatPlural } from './format.js';
import { writeAttribute, fillElement, h, markClass, showIf, writeText } from './kit.js';
import { faultsNow } from './moment.js';
import { thingHref } from './route.js';
import * as route from './route.js';

const SIZE = 400;
const MID = SIZE / 2;

/** MOST_VALIDATORS is how many validators a ring has; of more there is a matrix. */
export const MOST_VALIDATORS = 16;

/**
 * makeRing calls cut with those on the smaller side of a line that was drawn.
 * @param {(side: string[]) => void} cut
 */
export function makeRing(cut) {
  const links = h('svg:g', { class: 'links' });
  const nodes = h('svg:g', { class: 'nodes' });
  const cutLine = h('svg:line', { class: 'knife', hidden: true });
  const svg = h('svg:svg', { viewBox: `-50 0 ${SIZE + 100} ${SIZE}`, class: 'ring', role: 'group', 'aria-label': 'validators in a ring; the table of nodes says the same' }, links, nodes, cutLine);
  let lastNames = '';
  /** @type {Map<string, {x: number, y: number, g: any, bar: any, height: any, star: any, sub: any}>} */
  const at = new Map();
  /** @type {Map<string, any>} */
  const lines = new Map();

  /** @param {string[]} names */
  function buildElements(names) {
    at.clear();
    lines.clear();
    fillElement(links);
    fillElement(nodes);
    const radius = names.length === 1 ? 0 : 140;
    names.forEach((name, i) => {
      const turn = -Math.PI / 2 + i * 2 * Math.PI / names.length;
      at.set(name, /** @type {any} */ ({ x: MID + radius * Math.cos(turn), y: MID + radius * Math.sin(turn) }));
    });
    names.forEach((a, i) => names.slice(i + 1).forEach((b) => {
      const [p, q] = [/** @type {any} */ (at.get(a)), /** @type {any} */ (at.get(b))];
      const title = h('svg:title');
      const line = h('svg:line', { x1: p.x, y1: p.y, x2: q.x, y2: q.y, class: 'link', pathLength: 100 }, title);
      // not where links cross
      const gap = h('svg:text', { x: p.x + (q.x - p.x) * 0.38, y: p.y + (q.y - p.y) * 0.38, class: 'gap', 'text-anchor': 'middle', 'dominant-baseline': 'central' });
      links.append(line, gap);
      lines.set(a + ' ' + b, { line, gap, title });
    }));
    for (const [name, n] of at) {
      const bar = h('svg:rect', { x: n.x - 22, y: n.y + 10, width: 44, height: 4, class: 'bar' });
      // Labels stand outside of the ring, where no link passes.
      const [side, low] = [n.x > MID + 60 ? 1 : n.x < MID - 60 ? -1 : 0, n.y > MID + 60 || at.size === 1];
      const [x, y] = side && !low ? [n.x + side * 32, n.y] : [n.x, low ? n.y + 42 : n.y - 46];
      const star = h('svg:text', { x: n.x + (side < 0 ? -31 : 31), y: n.y - 20, class: 'star', 'text-anchor': 'middle' }, '★');
      const anchor = side && !low ? (side > 0 ? 'start' : 'end') : 'middle';
      const height = h('svg:text', { x, y, class: 'sub', 'text-anchor': anchor });
      const sub = h('svg:text', { x, y: y + 14, class: 'sub dim', 'text-anchor': anchor });
      const g = h('svg:a', { href: thingHref(`validator:${name}`), class: 'node' }, h('svg:title'), h('svg:circle', { cx: n.x, cy: n.y, r: 26 }),
        h('svg:text', { x: n.x, y: n.y - 2, class: 'name', 'text-anchor': 'middle', 'dominant-baseline': 'central' }, name.slice(0, 8)),
        h('svg:rect', { x: n.x - 22, y: n.y + 10, width: 44, height: 4, class: 'track' }), bar, star, height, sub);
      nodes.append(g);
      Object.assign(n, { g, bar, star, height, sub });
    }
  }

  /** @type {{x: number, y: number}|null} */
  let from = null;
  const point = (/** @type {any} */ e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
  svg.addEventListener('pointerdown', (/** @type {any} */ e) => {
    if (e.target.closest('a') || document.body.classList.contains('strict') || e.button) return;
    from = point(e);
    svg.setPointerCapture(e.pointerId);
    e.preventDefault();
  });
  svg.addEventListener('pointermove', (/** @type {any} */ e) => {
    if (!from) return;
    const to = point(e);
    for (const [name, n] of Object.entries({ x1: from.x, y1: from.y, x2: to.x, y2: to.y })) writeAttribute(cutLine, name, String(n));
    cutLine.removeAttribute('hidden');
    const side = new Set(smallerSide(from, to));
    for (const [name, n] of at) markClass(n.g, 'aside', side.has(name));
  });
  const end = (/** @type {any} */ e) => {
    if (!from) return;
    const side = e.type === 'pointerup' ? smallerSide(from, point(e)) : [];
    from = null;
    cutLine.setAttribute('hidden', '');
    for (const n of at.values()) markClass(n.g, 'aside', false);
    if (side.length) cut(side);
  };
  svg.addEventListener('pointerup', end);
  svg.addEventListener('pointercancel', end);

  /**
   * smallerSide are the names there of a line that is long enough to be meant.
   * @param {any} a
   * @param {any} b
   */
  function smallerSide(a, b) {
    if (Math.hypot(b.x - a.x, b.y - a.y) < 40) return [];
    /** @type {string[]} */
    const left = [];
    /** @type {string[]} */
    const right = [];
    for (const [name, n] of at) ((b.x - a.x) * (n.y - a.y) - (b.y - a.y) * (n.x - a.x) > 0 ? left : right).push(name);
    return left.length <= right.length ? left : right;
  }

  return {
    el: svg,
    /**
     * @param {any[]} list of the beat
     * @param {any} faulty its links
     * @param {string} leader
     * @param {number} head
     */
    draw(list, faulty, leader, head) {
      const names = list.map((n) => n.name || n.address);
      const key = names.join(' ');
      if (key !== lastNames) {
        lastNames = key;
        buildElements(names);
      }
      const sel = route.readRoute().sel;
      for (const n of list) {
        const one = at.get(n.name || n.address);
        if (!one) continue;
        writeAttribute(one.g, 'href', thingHref(`validator:${n.name || n.address}`));
        writeAttribute(one.g, 'data-tone', toneOf(list, n));
        markClass(one.g, 'selected', sel === `validator:${n.name}`);
        writeAttribute(one.bar, 'width', String(n.elsewhere || n.then ? 0 : 44 * Math.max(0, 1 - Math.max(0, head - n.height) / 20)));
        showIf(one.star, leader === n.name);
        writeText(one.height, n.running && (n.elsewhere || n.then) ? '' : n.running ? String(n.height) : 'down');
        writeText(one.sub, n.then ? '' : n.elsewhere ? 'elsewhere' : formatPlural(n.runners, 'runner'));
        writeText(one.g.firstElementChild, `${n.name}: ${findAilment(list, n) || 'runs'}${n.then || n.elsewhere ? '' : `, height ${n.height}, view ${n.view}, ${n.peers} peers`}`);
      }
      const odd = new Map();
      for (const l of faulty?.links || []) {
        const id = names.indexOf(l.from) < names.indexOf(l.to) ? l.from + ' ' + l.to : l.to + ' ' + l.from;
        const before = odd.get(id);
        if (!before || linkSeverity(l) > linkSeverity(before)) odd.set(id, l);
      }
      for (const [id, { line, gap, title }] of lines) {
        const l = odd.get(id);
        const [a, b] = id.split(' ').map((n) => list.find((v) => (v.name || v.address) === n));
        const state = l?.cut ? 'cut' : !a?.running || !b?.running || l && !l.up ? 'down' : l?.rule ? 'ruled' : 'up';
        writeAttribute(line, 'data-state', state);
        writeText(gap, state === 'cut' ? '✕' : state === 'ruled' ? '≈' : '');
        writeText(title, `${id.replace(' ', ' – ')}: ${linkWords(l, state)}`);
      }
    },
  };
}

/** @param {any} l */
function linkSeverity(l) { return (l.cut ? 4 : 0) + (l.up ? 0 : 2) + (l.rule ? 1 : 0); }

/**
 * linkWords says how a link is.
 * @param {any} l
 * @param {string} state
 */
export function linkWords(l, state) {
  if (!l) return { up: 'up', down: 'down', cut: 'cut', ruled: 'ruled' }[state] || state;
  const parts = [state];
  if (l.rule) parts.push(Object.entries(l.rule).map(([name, v]) => `${name} ${v}`).join(', '));
  if (l.dropped) parts.push(`${l.dropped} packets dropped`);
  if (l.delayed) parts.push(`${l.delayed} delayed`);
  if (l.lost) parts.push(`${l.lost} frames not sent`);
  if (l.rtt_us !== null && l.rtt_us !== undefined) parts.push(`round trip ${(l.rtt_us / 1000).toFixed(1)} ms`);
  return parts.join(', ');
}

/**
 * describeLag says how far a node is behind the others; '' within three blocks, which a beat may miss.
 * @param {any[]} list
 * @param {any} n
 */
export function describeLag(list, n) {
  const blocks = n.elsewhere || n.then || !n.running ? 0 : Math.max(...list.map((o) => (o.elsewhere ? 0 : o.height))) - n.height;
  return blocks > 3 ? `${formatCount(blocks)} blocks behind` : '';
}

/**
 * findStopReason returns '' where nothing keeps a validator from its work.
 * @param {any} n
 */
function findStopReason(n) {
  return n.missing?.join('; ') || (!n.running ? 'down' : !n.then && faultsNow().some((/** @type {any} */ f) => f.verb === 'freeze' && f.order.node === n.name) ? 'frozen' : '');
}

/**
 * findAilment returns '' where nothing is wrong with a validator.
 * @param {any[]} list
 * @param {any} n
 */
export function findAilment(list, n) { return findStopReason(n) || describeLag(list, n); }

/**
 * toneOf is the colour of a validator.
 * @param {any[]} list
 * @param {any} n
 */
export function toneOf(list, n) { return findStopReason(n) ? 'bad' : describeLag(list, n) ? 'warn' : 'good'; }

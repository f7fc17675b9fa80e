// @ts-check
// The links of many validators as a matrix: a row sends to a column.
import { makeChart } from './chart.js';
import { linkWords } from './ring.js';
import { thingHref } from './route.js';

/** makeLinkMatrix is for more validators than a ring has room for. */
export function makeLinkMatrix() {
  const chart = makeChart({
    title: 'links: rows send to columns', height: 420, tall: (d) => Math.max(160, Math.min(420, d.nodes.length * 12 + 8)),
    words: (d) => `links of ${d.nodes.length} validators; ${d.odd.size} directions are cut, down or ruled`,
    note: 'green: up · red: cut · grey: down · amber: ruled · the diagonal: the node itself',
    table: (d) => ({ head: ['from', 'to', 'state'], rows: [...d.odd.values()].map((l) => [l.from, l.to, linkWords(l, linkState(l))]) }),
    at(x, y, w, hgt, d) {
      const each = cellSize(w, hgt, d.nodes.length);
      const [col, row] = [Math.floor((x - 40) / each), Math.floor((y - 4) / each)];
      const [a, b] = [d.nodes[row], d.nodes[col]];
      if (!a || !b) return null;
      if (a === b) return { text: `${a.name}: ${a.missing?.join('; ') || 'runs'}, height ${a.height}`, href: thingHref(`validator:${a.name}`) };
      const l = d.odd.get(a.name + ' ' + b.name);
      return { text: `${a.name} → ${b.name}: ${l ? linkWords(l, linkState(l)) : a.running && b.running ? 'up' : 'down'}`, href: thingHref(`validator:${a.name}`) };
    },
    draw(ctx, w, hgt, d, ink) {
      const each = cellSize(w, hgt, d.nodes.length);
      const skip = Math.ceil(12 / each);
      ctx.textBaseline = 'middle';
      d.nodes.forEach((/** @type {any} */ a, /** @type {number} */ i) => {
        const y = 4 + i * each;
        if (i % skip === 0) {
          ctx.fillStyle = a.running ? ink.dim : ink.bad;
          ctx.fillText(a.name.slice(0, 5), 2, y + each / 2);
        }
        d.nodes.forEach((/** @type {any} */ b, /** @type {number} */ k) => {
          const l = d.odd.get(a.name + ' ' + b.name);
          const state = l ? linkState(l) : a.running && b.running ? 'up' : 'down';
          ctx.globalAlpha = state === 'up' ? 0.7 : 1;
          ctx.fillStyle = i === k ? (a.running ? !a.then && d.head - a.height > 2 ? ink.warn : ink.accent : ink.bad) : { up: ink.good, cut: ink.bad, down: ink.line, ruled: ink.warn }[state];
          ctx.fillRect(40 + k * each, y, Math.max(1, each - 1), Math.max(1, each - 1));
          ctx.globalAlpha = 1;
        });
      });
    },
  });
  return {
    el: chart.el,
    /**
     * @param {any[]} nodes
     * @param {any} links
     * @param {number} head
     */
    draw(nodes, links, head) {
      /** @type {Map<string, any>} */
      const odd = new Map();
      for (const l of links?.links || []) odd.set(l.from + ' ' + l.to, l);
      chart.set({ nodes, odd, head });
    },
  };
}

/**
 * @param {any} l
 * @returns {'cut'|'down'|'ruled'|'up'}
 */
function linkState(l) { return l.cut ? 'cut' : !l.up ? 'down' : l.rule ? 'ruled' : 'up'; }

/**
 * @param {number} w
 * @param {number} hgt
 * @param {number} n
 */
function cellSize(w, hgt, n) { return Math.min((w - 44) / n, (hgt - 8) / n); }

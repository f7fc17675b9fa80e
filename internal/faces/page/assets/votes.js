// @ts-check
// The votes of the last views: columns are views, rows are validators.
import { makeChart } from './chart.js';
import { formatCount } from './format.js';
import { thingHref } from './route.js';
import * as store from './store.js';
import { LETTER, voteOf, describeVote } from './things/validator.js';

const VIEWS = 32;
const LEFT = 44;

export function makeVoteChart() {
  const chart = makeChart({
    title: `${VIEWS} views, the latest on the right`, height: 150, tall: (d) => Math.min(150, Math.max(48, d.names.length * 26 + 20)),
    note: '✓ finalized, + notarized, ✗ gave up, · none; box: leads',
    words: (/** @type {{names: string[], views: import('./store.js').View[]}} */ d) => `votes of ${d.names.length} validators in ${d.views.length} views; ${d.views.filter((v) => v.outcome === 'nullified').length} views failed`,
    table: (d) => ({ head: ['view', ...d.names], rows: d.views.map((v) => [v.view, ...d.names.map((n) => describeVote(v, n))]) }),
    at(x, y, w, hgt, d) {
      const v = d.views[Math.floor((x - LEFT) / cellWidth(w)) - (VIEWS - d.views.length)];
      const name = d.names[Math.floor((y - 2) / cellHeight(hgt, d.names.length))];
      if (!v) return null;
      return { text: `view ${formatCount(v.view)}${name ? `, ${name}: ${describeVote(v, name)}` : `: ${v.text || v.outcome}`}`, href: thingHref(`view:${v.view}`) };
    },
    draw(ctx, w, hgt, d, ink) {
      const [ww, hh] = [cellWidth(w), cellHeight(hgt, d.names.length)];
      ctx.textBaseline = 'middle';
      const skip = Math.ceil(11 / hh);
      d.names.forEach((name, row) => {
        const y = 2 + row * hh;
        ctx.fillStyle = ink.dim;
        if (row % skip === 0) ctx.fillText(name.slice(0, 6), 2, y + hh / 2);
        d.views.forEach((v, i) => {
          const x = LEFT + (VIEWS - d.views.length + i) * ww;
          const vote = voteOf(v, name);
          ctx.globalAlpha = vote === 'silent' ? 1 : vote === 'nullify' ? 0.9 : vote === 'final' ? 0.55 : 0.35;
          ctx.fillStyle = vote === 'silent' ? ink.line : vote === 'nullify' ? ink.bad : vote === 'final' ? ink.good : ink.accent;
          ctx.fillRect(x + 1, y + 1, ww - 2, hh - 2);
          ctx.globalAlpha = 1;
          if (v.leader === name) {
            ctx.strokeStyle = ink.text;
            ctx.lineWidth = 1.5;
            ctx.strokeRect(x + 1.5, y + 1.5, ww - 3, hh - 3);
          }
          if (hh > 10 && ww > 8) {
            ctx.fillStyle = vote === 'nullify' ? ink.ground : ink.text;
            ctx.fillText(LETTER[vote], x + ww / 2 - 3, y + hh / 2);
          }
        });
      });
      ctx.fillStyle = ink.dim;
      if (d.views.length) {
        ctx.fillText(formatCount(d.views[0].view), LEFT + (VIEWS - d.views.length) * ww, hgt - 7);
        const last = formatCount(d.views[d.views.length - 1].view);
        ctx.fillText(last, w - ctx.measureText(last).width - 2, hgt - 7);
      } else {
        ctx.fillText('No view is told of yet.', LEFT, hgt / 2);
      }
    },
  });
  return {
    el: chart.el,
    /**
     * @param {string[]} names
     * @param {number|null} [to] the last view; null: the latest
     */
    draw(names, to = null) {
      const last = to ?? store.views.head;
      store.fillGap('views', VIEWS, to ?? undefined);
      chart.set({ names, views: store.views.last(VIEWS, last) });
    },
  };
}

/** @param {number} w */
function cellWidth(w) { return (w - LEFT - 4) / VIEWS; }
/**
 * @param {number} hgt
 * @param {number} n
 */
function cellHeight(hgt, n) { return Math.min(26, (hgt - 18) / Math.max(1, n)); }

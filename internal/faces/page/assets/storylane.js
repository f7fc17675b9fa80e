// @ts-check
// One timer's life as a lane of blocks: where it stood in the calendar, where it waited and why, how it ended.
import { formatCount } from './format.js';
import { makeChart, makeScale } from './chart.js';
import { thingHref } from './route.js';

/**
 * @param {any} t
 * @param {any[]} story
 * @param {number} head
 */
export function makeStoryLane(t, story, head) {
  const from = Math.max(1, Math.min(t.scheduled_at || 1, ...story.map((e) => e.from)));
  const to = Math.max(t.ended_at || head, t.height, from + 1);
  const x = (/** @type {number} */ w) => makeScale([from, to + 1], [4, w - 4]);
  const chart = makeChart({
    title: `blocks ${formatCount(from)} to ${formatCount(to)}`, height: 64,
    words: () => `a lane from block ${from} to ${to}: due at ${t.height}, ${t.status}${t.ended_at ? ` at ${t.ended_at}` : ''}, deferred ${t.deferrals} times`,
    table: () => ({ head: ['from', 'to', 'what', 'why'], rows: story.map((e) => [e.from, e.to, e.kind, e.reason || '']) }),
    at: (px, _y, w) => {
      const n = Math.floor(from + (px - 4) / (w - 8) * (to + 1 - from));
      if (n < from || n > to) return null;
      const e = story.filter((one) => one.from <= n && n <= one.to).pop();
      return { text: `block ${formatCount(n)}${e ? `: ${e.kind}${e.reason ? ', ' + e.reason : ''}` : ''}`, href: thingHref(`block:${n}`) };
    },
    draw(ctx, w, hgt, _d, ink) {
      const at = x(w);
      const mid = 30;
      ctx.fillStyle = ink.line;
      ctx.fillRect(at(from), mid - 2, at(to + 1) - at(from), 4);
      for (const e of story) {
        const [a, b] = [at(e.from), Math.max(at(e.from) + 3, at(e.to + 1))];
        if (e.kind === 'deferred') {
          ctx.fillStyle = ink.warn;
          ctx.fillRect(a, mid - 9, b - a, 18);
        } else if (e.kind === 'moved' || e.kind === 'scheduled' || e.kind === 'extended' || e.kind === 'triggered') {
          ctx.fillStyle = e.kind === 'scheduled' ? ink.accent : ink.dim;
          ctx.beginPath();
          ctx.arc(a + 1, mid, 5, 0, 7);
          ctx.fill();
        } else {
          ctx.fillStyle = e.kind === 'fired' ? ink.good : ink.bad;
          ctx.beginPath();
          ctx.moveTo(a, mid - 10);
          ctx.lineTo(a + 10, mid);
          ctx.lineTo(a, mid + 10);
          ctx.lineTo(a - 1, mid);
          ctx.fill();
        }
      }
      ctx.fillStyle = ink.text;
      ctx.textBaseline = 'bottom';
      ctx.fillRect(at(t.height), mid - 14, 1, 28);
      const label = `due ${formatCount(t.height)}`;
      const width = ctx.measureText(label).width;
      ctx.fillText(label, Math.max(2, Math.min(at(t.height) + 4, w - width - 4)), hgt - 2);
      if (!t.ended_at && head >= from && head <= to) {
        ctx.fillStyle = ink.dim;
        ctx.fillRect(at(head + 1), mid - 14, 1, 28);
        ctx.fillText('now', Math.min(at(head + 1) + 3, w - 26), mid - 6);
      }
    },
  });
  chart.set(0);
  return chart.el;
}

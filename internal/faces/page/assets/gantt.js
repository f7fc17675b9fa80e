// @ts-check
// A job from its submission to its callback: the job's own lane, and one for each runner of its draws.
import { count } from './format.js';
import { canvas, scale } from './chart.js';
import { name } from './names.js';
import { selected } from './route.js';

const LANE = 26;
const LEFT = 88;

/**
 * The marks of what happens: a shape, a letter, and a colour of the theme.
 * @type {{[what: string]: [string, keyof import('./chart.js').Inks]}}
 */
const MARKS = { submitted: ['S', 'accent'], waiting: ['w', 'warn'], drawn: ['D', 'accent'], pushed: ['p', 'dim'], acked: ['a', 'dim'], progress: ['…', 'dim'], result: ['r', 'text'], committed: ['C', 'accent'],
  refused: ['✗', 'bad'], revealed: ['R', 'good'], retried: ['↻', 'warn'], cancelled: ['✗', 'bad'], completed: ['✓', 'good'], failed: ['✗', 'bad'], called_back: ['↩', 'accent'], hard_failure: ['!', 'bad'], not_taken: ['!', 'bad'] };

/**
 * gantt draws a job's story.
 * @param {any} j
 * @param {any[]} story
 * @param {any[]} runners
 * @param {number} head
 */
export function gantt(j, story, runners, head) {
  const lanes = [...new Set([...runners.map((r) => r.address), ...story.map((e) => e.runner).filter(Boolean), ...j.committee])];
  const from = j.submitted_at;
  const last = Math.max(from + 2, j.completed_at ?? head, ...story.map((e) => e.height));
  const deadline = j.deadline <= last + 2 * (last - from) + 8 ? j.deadline : null;
  const to = Math.max(last, deadline ?? 0);
  const laneOf = (/** @type {any} */ e) => (e.runner ? 1 + lanes.indexOf(e.runner) : 0);
  const x = (/** @type {number} */ w) => scale([from, to + 1], [LEFT, w - 6]);
  const chart = canvas({
    title: `blocks ${count(from)} to ${count(to)}`, height: (lanes.length + 1) * LANE + 22,
    words: () => `the job was submitted in block ${from} and is ${j.status}; ${lanes.length} runners; its deadline is block ${j.deadline}`,
    table: () => ({ head: ['block', 'what', 'runner', 'validator'], rows: story.map((e) => [e.height, e.what.replaceAll('_', ' '), name(e.runner), name(e.validator)]) }),
    note: 'S submitted, D drawn, w waits for runners, ↻ drawn again, p pushed, a acked, r result, C committed, R revealed, ✓ completed, ✗ failed, ↩ called back',
    at: (px, py, w) => {
      const at = x(w);
      const lane = Math.floor((py - 4) / LANE);
      const near = story.filter((e) => laneOf(e) === lane && Math.abs(at(e.height + 0.5) - px) < 12);
      if (!near.length) return null;
      return { text: near.map((e) => `block ${count(e.height)}: ${e.what.replaceAll('_', ' ')}${e.runner ? ' by ' + name(e.runner) : ''}${e.detail ? ', ' + e.detail : ''}`).slice(0, 4).join(' · '), href: selected(`block:${near[0].height}`) };
    },
    draw(ctx, w, hgt, _d, ink) {
      const at = x(w);
      ctx.textBaseline = 'middle';
      const names = ['the job', ...lanes.map((a) => name(a))];
      names.forEach((text, i) => {
        const y = 4 + i * LANE + LANE / 2;
        ctx.fillStyle = ink.text;
        ctx.fillText(text.slice(0, 12), 2, y);
        ctx.fillStyle = ink.line;
        ctx.fillRect(LEFT, y, w - LEFT - 6, 1);
      });
      // The job is open from its submission to its end; a runner works from its draw to its result.
      bar(ctx, at(from), at((j.completed_at ?? last) + 1), 0, j.status === 'Completed' ? ink.good : j.status === 'Failed' ? ink.bad : ink.accent);
      for (const a of lanes) {
        const own = story.filter((e) => e.runner === a).map((e) => e.height);
        const drawn = story.filter((e) => e.what === 'drawn' && e.committee.includes(a)).map((e) => e.height);
        const begin = Math.min(...own, ...drawn);
        const end = Math.max(...own, ...drawn);
        if (Number.isFinite(begin)) bar(ctx, at(begin), at(end + 1), 1 + lanes.indexOf(a), ink.hues[0]);
      }
      if (deadline !== null) {
        ctx.fillStyle = ink.bad;
        ctx.fillRect(at(deadline + 1) - 1, 2, 1.5, hgt - 20);
        ctx.fillText('deadline', Math.min(at(deadline + 1) - 46, w - 50), hgt - 8);
      }
      const seen = new Map();
      for (const e of story) {
        const mark = MARKS[e.what];
        if (!mark || laneOf(e) < 0) continue;
        const key = laneOf(e) + '.' + e.height;
        const there = seen.get(key) || [];
        const nth = there.length;
        if (nth > 6 || there.includes(e.what)) continue; // several validators saw it
        seen.set(key, [...there, e.what]);
        ctx.fillStyle = /** @type {string} */ (ink[mark[1]]);
        const px = at(e.height) + Math.min(10, (at(e.height + 1) - at(e.height)) / 4) + nth * 11;
        ctx.font = 'bold 12px ui-sans-serif, system-ui, sans-serif';
        ctx.fillText(mark[0], px, 4 + laneOf(e) * LANE + LANE / 2);
        ctx.font = '11px ui-sans-serif, system-ui, sans-serif';
      }
      ctx.fillStyle = ink.dim;
      for (const n of [from, last]) ctx.fillText(count(n), Math.min(at(n) + 1, w - 46), hgt - 8);
    },
  });
  chart.set(0);
  return chart.el;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} a
 * @param {number} b
 * @param {number} lane
 * @param {string} colour
 */
function bar(ctx, a, b, lane, colour) {
  ctx.globalAlpha = 0.25;
  ctx.fillStyle = colour;
  ctx.fillRect(a, 4 + lane * LANE + 4, Math.max(3, b - a), LANE - 8);
  ctx.globalAlpha = 1;
}

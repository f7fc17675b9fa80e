// @ts-check
// A job from its submission to its callback: the job's own lane, and one for each runner of its draws, in phases.
import { formatCount } from './format.js';
import { makeChart, FONT, makeScale } from './chart.js';
import { nameOf } from './names.js';
import { thingHref } from './route.js';

const LANE = 26;
const LEFT = 88;

/**
 * @typedef {{text: string, from: number, to: number, ink: keyof import('./chart.js').Inks|'work'|'commit'}} Phase
 */

/** What ended badly, and how it is written at the end of a runner's lane. */
const BAD_ENDS = /** @type {{[outcome: string]: string}} */ ({ disagreed: '≠ disagrees', silent: '✗ silent', refused: '✗ refused' });

/**
 * compareResults says how results of the last draw differ; '' where they do not.
 * @param {any[]} runners
 */
export function compareResults(runners) {
  // the last one
  const draw = Math.max(...runners.map((r) => r.attempt));
  const withOutcome = (/** @type {string} */ outcome) => runners.filter((r) => r.outcome === outcome && r.attempt === draw);
  const parts = [];
  if (withOutcome('disagreed').length || withOutcome('silent').length || withOutcome('refused').length) {
    if (withOutcome('agreed').length) parts.push(`${withOutcome('agreed').length} agree`);
    for (const [outcome, verb] of [['disagreed', 'disagrees'], ['silent', 'gave nothing'], ['refused', 'refused']]) {
      const who = withOutcome(outcome).map((r) => nameOf(r.address));
      if (who.length) parts.push(`${who.slice(0, 3).join(', ')}${who.length > 3 ? ` and ${who.length - 3} more` : ''} ${who.length > 1 && verb === 'disagrees' ? 'disagree' : verb}`);
    }
  }
  return parts.join(', ');
}

/**
 * runnerPhases are those of a runner's work, one for each draw.
 * @param {any[]} events of the runner, and the draws with it
 * @param {any} runner
 * @param {number} end
 * @returns {Phase[]}
 */
function runnerPhases(events, runner, end) {
  /** @type {Phase[]} */
  const out = [];
  const findHeight = (/** @type {string[]} */ what, /** @type {number} */ from) => events.find((e) => what.includes(e.what) && e.height >= from)?.height;
  const drawn = findHeight(['drawn'], 0) ?? events[0]?.height;
  if (drawn === undefined) return out;
  const pushed = findHeight(['pushed', 'acked'], drawn) ?? drawn;
  const result = findHeight(['result', 'committed'], pushed);
  const committed = findHeight(['committed'], drawn);
  const revealed = findHeight(['revealed'], drawn);
  const refused = findHeight(['refused'], drawn);
  const bad = BAD_ENDS[runner?.outcome];
  if (pushed > drawn) out.push({ text: 'push', from: drawn, to: pushed, ink: 'dim' });
  const done = result ?? revealed ?? refused;
  out.push({ text: 'work', from: pushed, to: Math.max(done ?? end, pushed), ink: 'work' });
  if (committed !== undefined) out.push({ text: 'commit', from: committed, to: Math.max(revealed ?? committed, committed), ink: 'commit' });
  if (revealed !== undefined) out.push({ text: bad || 'reveal', from: revealed, to: revealed + 1, ink: bad ? 'bad' : 'good' });
  else if (bad) out.push({ text: bad, from: refused ?? Math.max(done ?? end, pushed), to: (refused ?? Math.max(done ?? end, pushed)) + 1, ink: 'bad' });
  return out;
}

/**
 * @param {any} j
 * @param {any[]} story
 * @param {number} end
 * @returns {Phase[]}
 */
function jobPhases(j, story, end) {
  const drawn = story.find((e) => e.what === 'drawn')?.height;
  const over = j.completed_at ?? end;
  const called = story.find((e) => e.what === 'called_back')?.height;
  /** @type {Phase[]} */
  const out = [{ text: 'waits for runners', from: j.submitted_at, to: drawn ?? over, ink: drawn === undefined ? 'warn' : 'dim' }];
  if (drawn !== undefined) out.push({ text: 'committee works', from: drawn, to: over, ink: 'accent' });
  if (j.completed_at !== null) out.push({ text: j.status.toLowerCase(), from: over, to: Math.max(over, called ?? over) + (called === undefined ? 1 : 0), ink: j.status === 'Completed' ? 'good' : 'bad' });
  if (called !== undefined) out.push({ text: 'callback', from: called, to: called + 1, ink: 'accent' });
  return out;
}

/**
 * @param {any} j
 * @param {any[]} story
 * @param {any[]} runners
 * @param {number} head
 */
export function makeJobChart(j, story, runners, head) {
  const lanes = [...new Set([...runners.map((r) => r.address), ...story.map((e) => e.runner).filter(Boolean), ...j.committee])];
  const from = j.submitted_at;
  const last = Math.max(from + 2, j.completed_at ?? head, ...story.map((e) => e.height));
  const deadline = j.deadline <= last + 2 * (last - from) + 8 ? j.deadline : null;
  const to = Math.max(last, deadline ?? 0);
  const latestRunner = (/** @type {string} */ a) => runners.filter((r) => r.address === a).pop();
  const rows = [jobPhases(j, story, last), ...lanes.map((a) => runnerPhases(story.filter((e) => e.runner === a || e.what === 'drawn' && e.committee.includes(a)), latestRunner(a), j.completed_at ?? last))];
  const laneOf = (/** @type {any} */ e) => (e.runner ? 1 + lanes.indexOf(e.runner) : 0);
  const x = (/** @type {number} */ w) => makeScale([from, to + 1], [LEFT, w - 6]);
  const chart = makeChart({
    title: `blocks ${formatCount(from)} to ${formatCount(to)}`, height: (lanes.length + 1) * LANE + 22,
    words: () => `the job was submitted in block ${from} and is ${j.status}; ${lanes.length} runners${compareResults(runners) ? `: ${compareResults(runners)}` : ''}; its deadline is block ${j.deadline}`,
    table: () => ({ head: ['block', 'what', 'runner', 'validator'], rows: story.map((e) => [e.height, e.what.replaceAll('_', ' '), nameOf(e.runner), nameOf(e.validator)]) }),
    keys: () => [['dim', 'wait, push'], ['hue1', 'work'], ['hue5', 'commit'], ['good', 'reveal, completed'], ['bad', 'disagrees, silent, refused, failed']],
    at: (px, py, w) => {
      const at = x(w);
      const lane = Math.floor((py - 4) / LANE);
      const near = story.filter((e) => laneOf(e) === lane && Math.abs(at(e.height + 0.5) - px) < 12);
      if (!near.length) return null;
      return { text: near.map((e) => `block ${formatCount(e.height)}: ${e.what.replaceAll('_', ' ')}${e.runner ? ' by ' + nameOf(e.runner) : ''}${e.detail ? ', ' + e.detail : ''}`).slice(0, 4).join(' · '), href: thingHref(`block:${near[0].height}`) };
    },
    draw(ctx, w, hgt, _d, ink) {
      const at = x(w);
      ctx.textBaseline = 'middle';
      rows.forEach((phases, i) => {
        const y = 4 + i * LANE;
        const bad = i > 0 && BAD_ENDS[latestRunner(lanes[i - 1])?.outcome];
        ctx.font = '11px ' + FONT;
        ctx.fillStyle = bad ? ink.bad : ink.text;
        ctx.fillText((i ? nameOf(lanes[i - 1]) : 'the job').slice(0, 12), 2, y + LANE / 2);
        ctx.fillStyle = ink.line;
        ctx.fillRect(LEFT, y + LANE / 2, w - LEFT - 6, 1);
        for (const p of phases) {
          const [a, b] = [at(p.from), Math.max(at(p.to), at(p.from) + 4)];
          ctx.fillStyle = p.ink === 'work' ? ink.hues[0] : p.ink === 'commit' ? ink.hues[4] : /** @type {string} */ (ink[p.ink]);
          ctx.globalAlpha = p.ink === 'bad' ? 0.85 : 0.35;
          ctx.fillRect(a, y + 4, b - a, LANE - 8);
          ctx.globalAlpha = 1;
          ctx.font = (p.ink === 'bad' ? 'bold ' : '') + '11px ' + FONT;
          const wide = ctx.measureText(p.text).width + 6;
          ctx.fillStyle = p.ink === 'bad' ? ink.ground : ink.text;
          if (wide <= b - a) ctx.fillText(p.text, a + 3, y + LANE / 2);
          // a liar is named also where a block is narrow
          else if (p.ink === 'bad') {
            ctx.fillStyle = ink.bad;
            ctx.fillText(p.text, b + wide < w ? b + 3 : Math.max(LEFT, a - wide), y + LANE / 2);
          }
        }
      });
      ctx.font = '11px ' + FONT;
      if (deadline !== null) {
        ctx.fillStyle = ink.bad;
        ctx.fillRect(at(deadline + 1) - 1, 2, 1.5, hgt - 20);
        ctx.fillText('deadline', Math.min(at(deadline + 1) - 46, w - 50), hgt - 8);
      }
      ctx.fillStyle = ink.dim;
      for (const n of [from, last]) ctx.fillText(formatCount(n), Math.min(at(n) + 1, w - 46), hgt - 8);
    },
  });
  chart.set(0);
  return chart.el;
}

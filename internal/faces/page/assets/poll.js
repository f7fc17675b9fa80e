// @ts-check
// What a view asks beside the beat: again while blocks are made and the view is looked at, one question at a time.
import { writeAttribute } from './kit.js';
import { isPast } from './moment.js';
import * as names from './names.js';
import * as store from './store.js';

/** A view that was not drawn for so long shows what it asked before only once it is confirmed. */
const AWAY_MS = 5000;

/**
 * @template Q, T
 * @typedef {{each: number, els: any[], of: (r: import('./route.js').Route) => Q, ask: (q: Q, signal: AbortSignal) => Promise<T>,
 *   take: (answer: T, r: import('./route.js').Route) => void, fail: (e: any) => void}} Plan
 */

/**
 * makePoll makes a function that is called with each drawing. `of` makes a question of a route, and an answer belongs to its question:
 * while a question has none, the elements are busy, which hides what they show of another. It asks at most each so many milliseconds, and
 * only where the head, the question or the network changed.
 * @template Q, T
 * @param {Plan<Q, T>} plan
 */
export function makePoll({ each, els, of, ask, take, fail }) {
  let question = '';
  /** @type {{data: T}|null} to the question */
  let answer = null;
  let drawnKey = '';
  /** @type {AbortController|null} */
  let request = null;
  // when it was asked
  let askedHead = -1;
  let endedAt = -Infinity;
  let lookedAt = -Infinity;
  /** @type {import('./route.js').Route} */
  let route;

  const markBusy = (/** @type {boolean} */ on) => { for (const el of els) writeAttribute(el, 'aria-busy', String(on)); };

  function drawAnswer() {
    const next = JSON.stringify([route.params, names.versionText()]);
    if (!answer || next === drawnKey) return;
    drawnKey = next;
    take(answer.data, route);
    markBusy(false);
  }

  /** @param {Q} q */
  async function askQuestion(q) {
    const mine = request = new AbortController();
    askedHead = store.headHeight();
    /** @type {any} */
    let wrong = null;
    /** @type {{data: T}|null} */
    let got = null;
    try {
      got = { data: await ask(q, mine.signal) };
    } catch (e) { wrong = e; }
    // another question is asked
    if (mine !== request) return;
    request = null;
    endedAt = performance.now();
    if (wrong || askedHead !== store.headHeight()) store.drawLater(each);
    if (got) {
      answer = got;
      drawnKey = '';
      drawAnswer();
    } else if (!answer) {
      fail(wrong);
      markBusy(false);
    }
    // it is asked again
    if (wrong) askedHead = -1;
  }

  return (/** @type {import('./route.js').Route} */ r) => {
    route = r;
    const q = of(r);
    const text = JSON.stringify([store.resetCount, q]);
    const time = performance.now();
    if (text !== question || time - lookedAt > AWAY_MS) {
      question = text;
      request?.abort();
      request = answer = null;
      askedHead = -1;
      endedAt = -Infinity;
      markBusy(true);
    }
    lookedAt = time;
    drawAnswer();
    // what was does not change
    if (!store.latestBeat || request || askedHead === store.headHeight() || answer && isPast(r)) return;
    if (time - endedAt < each) store.drawLater(endedAt + each - time);
    else askQuestion(q);
  };
}

// @ts-check
// What a view asks beside the beat: again while blocks are made and the view is looked at, one question at a time.
import { writeAttribute } from './kit.js';
import { isPast } from './moment.js';
import * as names from './names.js';
import * as store from './store.js';

/** A view that was not drawn for so long, in ms, shows what it asked before only once it is confirmed. */
const AWAY = 5000;

/**
 * @template Q, T
 * @typedef {{each: number, els: any[], of: (r: import('./route.js').Route) => Q, ask: (q: Q, signal: AbortSignal) => Promise<T>,
 *   take: (answer: T, r: import('./route.js').Route) => void, fail: (e: any) => void}} Plan
 */

/**
 * poll makes a function that is called with each drawing. `of` makes a question of a route, and an answer belongs to
 * its question: while a question has none, the elements are busy, which hides what they show of another. It asks at
 * most each so many milliseconds, and only where the head, the question or the network changed.
 * @template Q, T
 * @param {Plan<Q, T>} plan
 */
export function poll({ each, els, of, ask, take, fail }) {
  let question = '';
  /** @type {{data: T}|null} to the question */
  let answer = null;
  let drawn = '';
  /** @type {AbortController|null} */
  let asking = null;
  // when it was asked
  let head = -1;
  let ended = -Infinity;
  let looked = -Infinity;
  /** @type {import('./route.js').Route} */
  let route;

  const busy = (/** @type {boolean} */ on) => { for (const el of els) writeAttribute(el, 'aria-busy', String(on)); };

  function draw() {
    const next = JSON.stringify([route.params, names.stamp()]);
    if (!answer || next === drawn) return;
    drawn = next;
    take(answer.data, route);
    busy(false);
  }

  /** @param {Q} q */
  async function inquire(q) {
    const mine = asking = new AbortController();
    head = store.head();
    /** @type {any} */
    let wrong = null;
    /** @type {{data: T}|null} */
    let got = null;
    try {
      got = { data: await ask(q, mine.signal) };
    } catch (e) { wrong = e; }
    // another question is asked
    if (mine !== asking) return;
    asking = null;
    ended = performance.now();
    if (wrong || head !== store.head()) store.later(each);
    if (got) {
      answer = got;
      drawn = '';
      draw();
    } else if (!answer) {
      fail(wrong);
      busy(false);
    }
    // it is asked again
    if (wrong) head = -1;
  }

  return (/** @type {import('./route.js').Route} */ r) => {
    route = r;
    const q = of(r);
    const text = JSON.stringify([store.turns, q]);
    const time = performance.now();
    if (text !== question || time - looked > AWAY) {
      question = text;
      asking?.abort();
      asking = answer = null;
      head = -1;
      ended = -Infinity;
      busy(true);
    }
    looked = time;
    draw();
    // what was does not change
    if (!store.now || asking || head === store.head() || answer && isPast(r)) return;
    if (time - ended < each) store.later(ended + each - time);
    else inquire(q);
  };
}

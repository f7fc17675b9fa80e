// @ts-check
// What a view asks beside the beat: again while blocks are made and the view is looked at, one question at a time.
import * as names from './names.js';
import * as store from './store.js';

/**
 * poll makes a function that is called with each drawing. It asks at most each so many milliseconds, and only
 * where the head, the place or the network changed.
 * @template T
 * @param {number} each
 * @param {(r: import('./route.js').Route) => Promise<T>|T} ask
 * @param {(answer: T, r: import('./route.js').Route) => void} take
 * @param {(e: any) => void} [fail]
 */
export function poll(each, ask, take, fail) {
  let asking = false;
  let at = 0;
  let key = '';
  let failed = false;
  /** @type {T|undefined} */
  let last;
  let place = '';
  return async (/** @type {import('./route.js').Route} */ r) => {
    if (!store.now) return;
    const { sel, ...rest } = r.params;
    const where = store.turns + r.view + JSON.stringify(rest);
    const next = where + store.head();
    const shown = `${where} ${sel} ${names.version}`;
    if (last !== undefined && place !== shown && key.startsWith(where)) take(last, r); // another row is selected, or a name is known
    place = shown;
    if (asking || next === key && !failed || performance.now() - at < each && key.startsWith(where)) return;
    asking = true;
    key = next;
    try {
      const answer = await ask(r);
      last = answer;
      failed = false;
      take(answer, r);
    } catch (e) {
      failed = true;
      fail?.(e);
    } finally {
      asking = false;
      at = performance.now();
    }
  };
}

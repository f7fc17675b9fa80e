// @ts-check
// The stream of beats: one connection, opened and closed by who holds it.

/** @typedef {{beat?: string, lost?: boolean}} Message */

/** AGAIN is the time in ms until a refused stream is asked for again. */
const AGAIN = 2000;

/**
 * stream follows the beats while it is wanted.
 * @param {(m: Message) => void} each
 */
export function stream(each) {
  /** @type {EventSource|null} */
  let source = null;
  let wanted = false;

  function open() {
    if (source || !wanted) return;
    const mine = new EventSource('/page/live');
    source = mine;
    mine.addEventListener('beat', (e) => each({ beat: e.data }));
    mine.addEventListener('error', () => {
      each({ lost: true });
      // it was refused
      if (mine.readyState === EventSource.CLOSED && source === mine) {
        source = null;
        setTimeout(open, AGAIN);
      }
    });
  }
  return {
    /** @param {boolean} on */
    want(on) {
      wanted = on;
      if (on) {
        open();
      } else if (source) {
        source.close();
        source = null;
      }
    },
  };
}

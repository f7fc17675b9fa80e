// @ts-check
// The stream of beats: one connection, opened and closed by who holds it.

/** @typedef {{beat?: string, lost?: boolean}} Message */

/** RETRY_MS is the time until a refused stream is asked for again. */
const RETRY_MS = 2000;

/** @param {(m: Message) => void} each */
export function makeBeatStream(each) {
  /** @type {EventSource|null} */
  let source = null;
  let isWanted = false;

  function openSource() {
    if (source || !isWanted) return;
    const mine = new EventSource('/page/live');
    source = mine;
    mine.addEventListener('beat', (e) => each({ beat: e.data }));
    mine.addEventListener('error', () => {
      each({ lost: true });
      // it was refused
      if (mine.readyState === EventSource.CLOSED && source === mine) {
        source = null;
        setTimeout(openSource, RETRY_MS);
      }
    });
  }
  return {
    /** @param {boolean} on */
    want(on) {
      isWanted = on;
      if (on) {
        openSource();
      } else if (source) {
        source.close();
        source = null;
      }
    },
  };
}

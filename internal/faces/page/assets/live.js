// @ts-check
// Beats, by one connection a browser: a shared worker has it, or, where there is none, one tab for all.

/** @typedef {{beat?: string, lost?: boolean}} Message */

/**
 * follow hands each message on, while the tab is seen.
 * @param {(m: Message) => void} each
 */
export function follow(each) {
  if (typeof SharedWorker === 'function') shared(each);
  else elected(each);
}

/** @param {(m: Message) => void} each */
function shared(each) {
  const worker = new SharedWorker(/** @type {any} */ (scriptURL('/page/worker.js')), { type: 'module', name: 'devnet' });
  worker.port.addEventListener('message', (m) => each(m.data));
  worker.port.start();
  const tell = () => worker.port.postMessage(document.hidden ? 'hidden' : 'seen');
  document.addEventListener('visibilitychange', tell);
  addEventListener('pagehide', () => worker.port.postMessage('gone'));
  addEventListener('pageshow', (e) => { if (e.persisted) tell(); });
  tell();
}

/**
 * scriptURL is a script of this server, as a browser with trusted types takes it.
 * @param {string} path
 */
function scriptURL(path) {
  const types = /** @type {any} */ (globalThis).trustedTypes;
  if (!types) return path;
  return types.createPolicy('page', { createScriptURL: (/** @type {string} */ p) => p }).createScriptURL(path);
}

/**
 * elected has the tab that gets the lock follow, and tell the others.
 * @param {(m: Message) => void} each
 */
function elected(each) {
  const others = typeof BroadcastChannel === 'function' ? new BroadcastChannel('devnet') : null;
  if (others) others.addEventListener('message', (m) => each(m.data));
  const lead = () => new Promise(() => {
    const source = new EventSource('/page/live');
    const tell = (/** @type {Message} */ m) => {
      each(m);
      if (others) others.postMessage(m);
    };
    source.addEventListener('beat', (e) => tell({ beat: e.data }));
    source.addEventListener('error', () => tell({ lost: true }));
  });
  if (navigator.locks) navigator.locks.request('devnet-live', lead);
  else lead();
}

// @ts-check
// Beats, by one connection a browser: a shared worker has it. Where there is none, each tab that is seen has its own.
import { makeBeatStream } from './stream.js';

/**
 * followBeats hands each message on, while the tab is seen.
 * @param {(m: import('./stream.js').Message) => void} each
 */
export function followBeats(each) {
  if (typeof SharedWorker === 'function') followByWorker(each);
  else followAlone(each);
}

/** @param {(m: import('./stream.js').Message) => void} each */
function followByWorker(each) {
  const worker = new SharedWorker(/** @type {any} */ (scriptURL('/page/bundle/worker.js')), { type: 'module', name: 'devnet' });
  worker.port.addEventListener('message', (m) => each(m.data));
  worker.port.start();
  const reportVisibility = () => worker.port.postMessage(document.hidden ? 'hidden' : 'seen');
  document.addEventListener('visibilitychange', reportVisibility);
  addEventListener('pagehide', () => worker.port.postMessage('gone'));
  addEventListener('pageshow', (e) => { if (e.persisted) reportVisibility(); });
  reportVisibility();
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

/** @param {(m: import('./stream.js').Message) => void} each */
function followAlone(each) {
  const beats = makeBeatStream(each);
  const followVisibility = () => beats.want(!document.hidden);
  document.addEventListener('visibilitychange', followVisibility);
  addEventListener('pagehide', () => beats.want(false));
  addEventListener('pageshow', followVisibility);
  followVisibility();
}

// @ts-check
// The one connection of a browser, for all its tabs. It hands beats on as they came: each tab reads its own.
import { makeBeatStream } from './stream.js';

/** @type {Map<MessagePort, boolean>} whether it is seen */
const tabs = new Map();
/** @type {string|null} */
let latest = null;

const beats = makeBeatStream((m) => {
  latest = m.beat || null;
  for (const [port, seen] of tabs) if (seen) port.postMessage(m);
});

addEventListener('connect', (e) => {
  const port = /** @type {MessageEvent} */ (e).ports[0];
  port.addEventListener('message', (m) => {
    if (m.data === 'gone') tabs.delete(port);
    else tabs.set(port, m.data === 'seen');
    if (m.data === 'seen' && latest) port.postMessage({ beat: latest });
    const seen = [...tabs.values()].some(Boolean);
    // nobody looks: nothing is asked
    if (!seen) latest = null;
    beats.want(seen);
  });
  port.start();
});

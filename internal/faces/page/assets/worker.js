// @ts-check
// The one connection of a browser, for all its tabs. It hands beats on as they came: each tab reads its own.

/** @type {Map<MessagePort, boolean>} whether it is seen */
const tabs = new Map();
/** @type {EventSource|null} */
let source = null;
/** @type {string|null} */
let latest = null;

/** @param {any} message */
function tell(message) {
  for (const [port, seen] of tabs) if (seen) port.postMessage(message);
}

// Nobody looks: nothing is asked.
function follow() {
  const wanted = [...tabs.values()].some(Boolean);
  if (wanted && !source) {
    source = new EventSource('/page/live');
    source.addEventListener('beat', (e) => {
      latest = e.data;
      tell({ beat: e.data });
    });
    source.addEventListener('error', () => {
      latest = null;
      tell({ lost: true });
      if (source && source.readyState === EventSource.CLOSED) { // it was refused: try again
        source = null;
        setTimeout(follow, 2000);
      }
    });
  } else if (!wanted && source) {
    source.close();
    source = null;
    latest = null;
  }
}

addEventListener('connect', (e) => {
  const port = /** @type {MessageEvent} */ (e).ports[0];
  port.addEventListener('message', (m) => {
    if (m.data === 'gone') tabs.delete(port);
    else tabs.set(port, m.data === 'seen');
    if (m.data === 'seen' && latest) port.postMessage({ beat: latest });
    follow();
  });
  port.start();
});

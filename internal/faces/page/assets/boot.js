// @ts-check
// Loads the page once more where its script was not sent: browsers end requests when a network interface comes or goes.
addEventListener('error', (e) => {
  if (!(e.target instanceof HTMLScriptElement)) return;
  const again = /** @type {any} */ (performance.getEntriesByType('navigation')[0])?.type === 'reload';
  if (!again) return void setTimeout(() => location.reload(), 300);
  const main = /** @type {any} */ (document.getElementById('main'));
  main.textContent = 'The page did not load: its script was not sent. Reload it, and check the network: devnet status';
}, true); // an error of an element does not rise to the window

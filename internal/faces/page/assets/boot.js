// @ts-check
// Loads the page, and loads it once more where a request failed: browsers end requests when a network interface comes or goes.
import('./main.js').catch((/** @type {any} */ error) => {
  const again = /** @type {any} */ (performance.getEntriesByType('navigation')[0])?.type === 'reload';
  if (!again) return void setTimeout(() => location.reload(), 300);
  const main = /** @type {any} */ (document.getElementById('main'));
  main.textContent = `The page did not load: ${error.message}. Reload it, and check the network: devnet status`;
});

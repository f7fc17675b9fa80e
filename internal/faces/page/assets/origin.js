// @ts-check
// Which chain a link is of. A copied link names a block of it by height and the beginning of its hash: of=118.4f5e6a7b.
// Networks that began alike have one genesis, and other blocks all the same.
import { get, encodePathPart } from './api.js';
import { formatCount } from './format.js';
import { showNotice } from './kit.js';
import * as route from './route.js';

/** How many digits of a hash are in a link. */
const DIGITS = 8;

/** makeShareLink returns the address of what is shown, with its chain. */
export async function makeShareLink() {
  try {
    const block = await get('/block/latest');
    return location.origin + location.pathname + route.hrefWith({ of: `${block.height}.${block.hash.slice(2, 2 + DIGITS)}` });
  } catch {
    // the network does not answer: the link names no chain
    return location.href;
  }
}

/** checkLinkChain says that the link which was opened is of another chain, and takes the chain out of the address. */
export async function checkLinkChain() {
  const { of } = route.readRoute().params;
  if (!of) return;
  const asked = /^(\d{1,15})\.([0-9a-f]{8})$/.exec(of);
  const wrong = asked ? await explainMismatch(asked[1], asked[2]) : 'This link does not say which chain it is of.';
  if (wrong) showNotice(wrong, 'wrong', 'The network was begun anew, or set back to an earlier state: what is shown is of this chain.');
  if (wrong !== null) route.setParams({ of: '' }, true);
}

/**
 * explainMismatch says why a link is of another chain; '' if it is of this one, and null if nobody answers.
 * @param {string} height
 * @param {string} mark
 * @returns {Promise<string|null>}
 */
async function explainMismatch(height, mark) {
  try {
    const block = await get(`/block/${encodePathPart(height)}`);
    return block.hash.slice(2, 2 + DIGITS) === mark ? '' : `This link is of another chain: block ${formatCount(Number(height))} is another one here.`;
  } catch (e) {
    const { status, code } = /** @type {any} */ (e);
    if (status !== 404) return null;
    return code === 'not_kept' ? `Block ${formatCount(Number(height))} is no longer kept: this link may be of another chain.`
      : `This link is of another chain: there is no block ${formatCount(Number(height))} here.`;
  }
}

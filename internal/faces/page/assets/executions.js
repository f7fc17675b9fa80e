// @ts-check
// What blocks executed: receipts, each asked for once.
import { get } from './api.js';
import * as store from './store.js';

/** MOST_BLOCKS is how many blocks that have something are asked for receipts at most. */
export const MOST_BLOCKS = 400;

/**
 * Receipts of blocks do not change; the latest are kept.
 * @type {Map<string, any[]>}
 */
const receiptsByBlock = new Map();

/**
 * @param {number} height
 * @param {AbortSignal} signal
 * @returns {Promise<any[]>}
 */
export async function fetchReceipts(height, signal) {
  const key = `${store.resetCount}.${height}`;
  const known = receiptsByBlock.get(key);
  if (known) return known;
  const list = await get(`/block/${height}/receipts`, { limit: 1000 }, signal).catch((e) => (e.status === 404 ? null : Promise.reject(e)));
  // a node dropped it meanwhile
  if (!list) return [];
  list.reverse();
  receiptsByBlock.set(key, list);
  if (receiptsByBlock.size > 2 * MOST_BLOCKS) receiptsByBlock.delete(/** @type {any} */ (receiptsByBlock.keys().next().value));
  return list;
}

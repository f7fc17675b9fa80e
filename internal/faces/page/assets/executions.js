// @ts-check
// What blocks executed: receipts, each asked for once.
import { get } from './api.js';
import * as store from './store.js';

/** BACK is how many blocks that have something are asked for receipts at most. */
export const BACK = 400;

/**
 * Receipts of blocks do not change; the latest are kept.
 * @type {Map<string, any[]>}
 */
const kept = new Map();

/**
 * @param {number} height
 * @param {AbortSignal} signal
 * @returns {Promise<any[]>}
 */
export async function receiptsOf(height, signal) {
  const key = `${store.turns}.${height}`;
  const had = kept.get(key);
  if (had) return had;
  const list = await get(`/block/${height}/receipts`, { limit: 1000 }, signal).catch((e) => (e.status === 404 ? null : Promise.reject(e)));
  // a node dropped it meanwhile
  if (!list) return [];
  list.reverse();
  kept.set(key, list);
  if (kept.size > 2 * BACK) kept.delete(/** @type {any} */ (kept.keys().next().value));
  return list;
}

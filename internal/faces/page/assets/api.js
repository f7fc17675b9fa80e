// @ts-check
// Questions to the API of the page's own address, and orders.

/** Refused is an answer that is no success. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {any} body
   */
  constructor(status, body) {
    const e = body && body.error || {};
    super(e.message ? `${e.message}${e.code ? ` (${e.code})` : ''}` : `the devnet answered ${status}`);
    this.status = status;
    this.code = e.code || '';
    this.hint = e.hint || '';
    this.field = e.field || '';
    this.words = e.message || '';
  }
}

/**
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<any>}
 */
async function requestJSON(path, init) {
  let answer;
  try {
    answer = await fetch(path, init);
  } catch {
    const e = /** @type {any} */ (new Error('the devnet does not answer'));
    e.hint = 'Start it again: devnet up';
    throw e;
  }
  let body = null;
  try { body = await answer.json(); } catch { /* an answer without a body */ }
  if (!answer.ok && path !== '/ready') throw new Refused(answer.status, body);
  return body;
}

/**
 * get leaves out parameters that are empty.
 * @param {string} path
 * @param {{[name: string]: any}} [query]
 * @param {AbortSignal} [signal]
 */
export function get(path, query, signal) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return requestJSON(path + (text ? '?' + text : ''), { signal });
}

/**
 * @param {string} path
 * @param {any} [body]
 */
export function post(path, body) {
  const init = /** @type {RequestInit} */ ({ method: 'POST' });
  if (body !== undefined) {
    init.headers = { 'Content-Type': 'application/json' };
    init.body = JSON.stringify(body);
  }
  return requestJSON(path, init);
}

/** @param {string|number} id */
export function encodePathPart(id) { return encodeURIComponent(String(id)); }

/** The address that a command names, where it is not the one that commands take by themselves. */
const HTTP_FLAG = location.host === '127.0.0.1:4000' || location.host === 'localhost:4000' ? '' : ` --http ${location.origin}`;

/**
 * devnetCommand is a command line for this network.
 * @param {string} text
 */
export function devnetCommand(text) { return `devnet ${text}${HTTP_FLAG}`; }

/** @param {string} word */
export function quoteForShell(word) {
  return /^[\w.,:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

// @ts-check
// Who has an address: validators by the beat; runners, accounts and actors by what is asked now and then. Runners are those of the moment that
// is looked at: one that left has a name there.
import { get } from './api.js';
import { shortenID } from './format.js';
import { makeLink } from './kit.js';
import { momentOf } from './moment.js';
import { thingHref } from './route.js';
import * as store from './store.js';

/** @typedef {{name: string, kind: 'validator'|'runner'|'account'|'actor', address: string}} AddressName */

/** @type {Map<string, AddressName>} by address */
const namesByAddress = new Map();
let reset = -1;
let moment = '';
let lastNames = '';
let askedAt = 0;
let latest = 0;
/** version counts how often it was learned who is there. */
let version = 0;
/** areKnown is whether it was learned at all who is there. */
export let areKnown = false;

/** versionText is another text as soon as anybody may have another name. */
export function versionText() { return `${version}.${store.castVersion}`; }

/**
 * The names of the chain's own contracts, which nobody deploys, by the last digit of their addresses.
 * @type {{[digit: string]: string}}
 */
const CONTRACTS = { 1: 'registry', 2: 'dispatcher', 3: 'verifier', 8: 'treasury', 9: 'governance' };

/**
 * refreshNames asks who is there, at most each few seconds.
 * @param {boolean} [now]
 */
export async function refreshNames(now = false) {
  const time = performance.now();
  // the next drawing asks
  if (!store.latestBeat) return;
  const at = momentOf();
  if (reset !== store.resetCount || at !== moment) {
    reset = store.resetCount;
    moment = at;
    areKnown = false;
    now = true;
  }
  if (!now && time - askedAt < 5000) return;
  askedAt = time;
  const strict = store.latestBeat.ready?.strict;
  const mine = ++latest;
  const [runners, accounts, actors] = await Promise.all([get('/runners', { limit: 1000, at }).catch(() => []),
    strict ? [] : get('/devnet/accounts').catch(() => []), get('/actors', { limit: 1000 }).catch(() => [])]);
  // a later question has the answer
  if (mine !== latest || reset !== store.resetCount) return;
  if (!areKnown) namesByAddress.clear();
  for (const [kind, list] of /** @type {[AddressName['kind'], any[]][]} */ ([['account', accounts], ['actor', actors], ['runner', runners]])) {
    for (const one of list) namesByAddress.set(one.address, { kind, name: one.name || '', address: one.address });
  }
  const next = [...namesByAddress].map(([address, k]) => address + k.name).join();
  if (next === lastNames && areKnown) return;
  if (next !== lastNames) version++;
  lastNames = next;
  areKnown = true;
  store.drawSoon();
}

/**
 * @param {string} address
 * @returns {AddressName|undefined}
 */
export function findByAddress(address) {
  const v = store.latestBeat?.nodes?.find((/** @type {any} */ n) => n.address === address);
  if (v) return { kind: 'validator', name: v.name, address };
  const contract = /^0x0{39}([12389])$/.exec(address);
  if (contract) return { kind: 'account', name: CONTRACTS[contract[1]], address };
  return namesByAddress.get(address);
}

/** @returns {AddressName[]} */
export function listNames() {
  const list = [...namesByAddress.values()].filter((k) => k.name);
  for (const v of store.latestBeat?.nodes || []) list.push({ kind: 'validator', name: v.name, address: v.address });
  return list;
}

/**
 * nameOf is what an address is called; else its beginning and its end.
 * @param {string|null|undefined} address
 * @returns {string}
 */
export function nameOf(address) {
  if (!address) return '';
  return findByAddress(address)?.name || shortenID(address);
}

/**
 * makeNameLink leads to whoever has an address.
 * @param {string|null|undefined} address
 */
export function makeNameLink(address) {
  if (!address) return '';
  const one = findByAddress(address);
  const kind = one ? one.kind : 'account';
  const el = makeLink(thingHref(`${kind}:${one && (kind === 'validator' || kind === 'runner') && one.name ? one.name : address}`), nameOf(address));
  el.title = address;
  return el;
}

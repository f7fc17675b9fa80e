// @ts-check
// Who has an address: validators by the beat; runners, accounts and actors by what is asked now and then. Runners are those of the moment that
// is looked at: one that left has a name there.
import { get } from './api.js';
import { shortenID } from './format.js';
import { makeLink } from './kit.js';
import { momentOf } from './moment.js';
import { selected } from './route.js';
import * as store from './store.js';

/** @typedef {{name: string, kind: 'validator'|'runner'|'account'|'actor', address: string}} Known */

/** @type {Map<string, Known>} by address */
const known = new Map();
let turn = -1;
let moment = '';
let before = '';
let asked = 0;
let latest = 0;
/** version counts how often it was learned who is there. */
let version = 0;
/** answered is whether it was learned at all. */
export let answered = false;

/** stamp is another text as soon as anybody may have another name. */
export function stamp() { return `${version}.${store.cast}`; }

/**
 * The names of the chain's own contracts, which nobody deploys, by the last digit of their addresses.
 * @type {{[digit: string]: string}}
 */
const CONTRACTS = { 1: 'registry', 2: 'dispatcher', 3: 'verifier', 8: 'treasury', 9: 'governance' };

/**
 * refresh asks who is there, at most each few seconds.
 * @param {boolean} [now]
 */
export async function refresh(now = false) {
  const time = performance.now();
  // the next drawing asks
  if (!store.now) return;
  const at = momentOf();
  if (turn !== store.turns || at !== moment) {
    turn = store.turns;
    moment = at;
    answered = false;
    now = true;
  }
  if (!now && time - asked < 5000) return;
  asked = time;
  const strict = store.now.ready?.strict;
  const mine = ++latest;
  const [runners, accounts, actors] = await Promise.all([get('/runners', { limit: 1000, at }).catch(() => []),
    strict ? [] : get('/devnet/accounts').catch(() => []), get('/actors', { limit: 1000 }).catch(() => [])]);
  // a later question has the answer
  if (mine !== latest || turn !== store.turns) return;
  if (!answered) known.clear();
  for (const [kind, list] of /** @type {[Known['kind'], any[]][]} */ ([['account', accounts], ['actor', actors], ['runner', runners]])) {
    for (const one of list) known.set(one.address, { kind, name: one.name || '', address: one.address });
  }
  const next = [...known].map(([address, k]) => address + k.name).join();
  if (next === before && answered) return;
  if (next !== before) version++;
  before = next;
  answered = true;
  store.nudge();
}

/**
 * find is who has an address.
 * @param {string} address
 * @returns {Known|undefined}
 */
export function find(address) {
  const v = store.now?.nodes?.find((/** @type {any} */ n) => n.address === address);
  if (v) return { kind: 'validator', name: v.name, address };
  const contract = /^0x0{39}([12389])$/.exec(address);
  if (contract) return { kind: 'account', name: CONTRACTS[contract[1]], address };
  return known.get(address);
}

/**
 * all are those that have a name.
 * @returns {Known[]}
 */
export function all() {
  const list = [...known.values()].filter((k) => k.name);
  for (const v of store.now?.nodes || []) list.push({ kind: 'validator', name: v.name, address: v.address });
  return list;
}

/**
 * name is what an address is called; else its beginning and its end.
 * @param {string|null|undefined} address
 * @returns {string}
 */
export function name(address) {
  if (!address) return '';
  return find(address)?.name || shortenID(address);
}

/**
 * who leads to whoever has an address.
 * @param {string|null|undefined} address
 */
export function who(address) {
  if (!address) return '';
  const one = find(address);
  const kind = one ? one.kind : 'account';
  const el = makeLink(selected(`${kind}:${one && (kind === 'validator' || kind === 'runner') && one.name ? one.name : address}`), name(address));
  el.title = address;
  return el;
}

// @ts-check
// Schemas of actors: what a typed value shows, in events, outputs and state.
import { get, part } from './api.js';
import { bytes, count, money, unhex } from './format.js';
import { h, write } from './kit.js';
import { name } from './names.js';
import * as store from './store.js';

/**
 * @typedef {string|{[form: string]: any}} Type
 * @typedef {{name: string, type: Type, default?: any}} Field
 * @typedef {{name: string, doc?: string, raw?: boolean, callers?: string|string[], arguments?: Field[], returns?: Type}} Handler
 * @typedef {{handlers: Handler[], events?: string[], types?: {[name: string]: {record?: Field[], enum?: {name: string, value: any}[]}},
 *   state?: {name: string, type?: Type, list?: Type, key?: Type}[]}} Schema
 */

/** @type {Map<string, Promise<Schema|null>>} */
const asked = new Map();

/**
 * schemaOf is the schema of an actor; null where its code has none. It is asked once: a name or another code is another key.
 * @param {string} address
 * @param {string} [code]
 * @returns {Promise<Schema|null>}
 */
export function schemaOf(address, code = '') {
  if (/^0x0{38}0[1-5]$/.test(address)) return Promise.resolve(null); // the chain's own actors have none
  const key = `${store.turns} ${address} ${code}`;
  let answer = asked.get(key);
  if (!answer) {
    if (asked.size > 200) asked.clear();
    answer = get(`/actor/${part(address)}/schema`).catch((e) => {
      if (e.status !== 404) asked.delete(key); // it is asked again
      return null;
    });
    asked.set(key, answer);
  }
  return answer;
}

/**
 * words is what a type is called.
 * @param {Type} t
 * @returns {string}
 */
export function words(t) {
  if (typeof t === 'string') return t;
  if (t.optional) return `${words(t.optional)} or nothing`;
  if (t.list) return `list of ${words(t.list)}`;
  if (t.tuple) return `[${t.tuple.map(words).join(', ')}]`;
  if (t.dict) return `object of ${words(t.dict[1])} by ${words(t.dict[0])}`;
  if (t.int) return `int from ${count(t.int[0])} to ${count(t.int[1])}`;
  return t.str ? `str of ${t.str[0]} to ${t.str[1]} characters` : JSON.stringify(t);
}

/**
 * text is a value as its type has it.
 * @param {Schema} s
 * @param {Type|undefined} t
 * @param {any} v
 * @returns {string}
 */
export function text(s, t, v) {
  if (v === null || v === undefined) return 'nothing';
  if (t === 'Amount') return money(String(v));
  if (t === 'Address') return name(String(v));
  if (t === 'bytes') return bytes(v) || '0x';
  if (t === 'int' || typeof t === 'string' && /^u\d+$/.test(t)) return count(v);
  if (typeof t === 'string') {
    const { record, enum: members } = s.types?.[t] || {};
    if (members) return members.find((m) => String(m.value) === String(v))?.name || String(v);
    return record && typeof v === 'object' ? record.map((f) => `${f.name} ${text(s, f.type, v[f.name])}`).join(', ') : String(v);
  }
  if (t?.optional) return text(s, t.optional, v);
  if (Array.isArray(v)) return `[${v.map((one, i) => text(s, t?.tuple ? t.tuple[i] : t?.list, one)).join(', ')}]`;
  if (t?.dict) return `{${Object.entries(v).map(([k, one]) => `${text(s, t.dict[0], k)}: ${text(s, t.dict[1], one)}`).join(', ')}}`;
  return t?.int ? count(v) : typeof v === 'object' ? JSON.stringify(v) : String(v);
}

/**
 * later is bytes at first, and the typed value once the schema is there.
 * @param {string} address
 * @param {string} hex
 * @param {(s: Schema) => Type|undefined} typeOf
 */
function later(address, hex, typeOf) {
  const el = h('span', null, bytes(hex));
  if (hex && hex !== '0x') schemaOf(address).then((s) => {
    const t = s && typeOf(s);
    if (s && t) try { write(el, text(s, t, JSON.parse(bytes(hex)))); } catch { /* the bytes stay */ }
  });
  return el;
}

/** @param {{actor: string, name: string, data: string}} e */
export function event(e) { return later(e.actor, e.data, (s) => (s.events?.includes(e.name) ? e.name : undefined)); }

/**
 * output is what a handler returned.
 * @param {string} to
 * @param {string} handler
 * @param {string} hex
 */
export function output(to, handler, hex) {
  return hex === '0x' || !hex ? '' : later(to, hex, (s) => s.handlers.find((x) => x.name === handler)?.returns);
}

/**
 * entry is a row of typed state: its key and its value in words; null where no attribute has it.
 * @param {Schema|null} s
 * @param {{key: string, value: string}} e
 * @returns {[string, string]|null}
 */
export function entry(s, e) {
  try {
    const key = unhex(e.key);
    const slash = key.indexOf(47);
    const own = new TextDecoder().decode(slash < 0 ? key : key.subarray(0, slash));
    const a = s?.state?.find((one) => own === (one.list && slash < 0 ? one.name + '#' : one.name));
    if (!s || !a || Boolean(a.key || a.list) !== (slash >= 0 || own.endsWith('#'))) return null;
    const value = text(s, slash < 0 && a.list ? 'u64' : a.type ?? a.list, cbor(unhex(e.value)));
    if (slash < 0) return [a.list ? `${a.name}: how many` : own, value];
    return [`${own}[${a.key ? keyText(s, a.key, key.subarray(slash + 1)) : number(key.subarray(slash + 1))}]`, value];
  } catch { return null; }
}

/** @param {Uint8Array} b */
function number(b) { return BigInt(hexOf(b)); }
/** @param {Uint8Array} b */
function hexOf(b) { return '0x' + [...b].map((x) => x.toString(16).padStart(2, '0')).join(''); }

/**
 * keyText is the key of a map.
 * @param {Schema} s
 * @param {any} t
 * @param {Uint8Array} b
 * @returns {string}
 */
function keyText(s, t, b) {
  if (t.tuple) {
    let at = 0;
    return t.tuple.map((/** @type {Type} */ of) => {
      const n = Number(number(b.subarray(at, at + 4)));
      at += 4 + n;
      return keyText(s, of, b.subarray(at - n, at));
    }).join(', ');
  }
  if (t === 'str' || t.str) return new TextDecoder('utf-8', { fatal: true }).decode(b);
  const isInt = t.int || t === 'int' || t === 'Amount' || /^u\d+$/.test(t);
  return text(s, t, isInt ? String(BigInt.asIntN(256, number(b))) : hexOf(b));
}

/**
 * cbor decodes a value of state: integers as digits, bytes in hexadecimal digits.
 * @param {Uint8Array} b
 */
function cbor(b) {
  let at = 0;
  const take = (/** @type {number} */ n) => {
    if (at + n > b.length) throw new Error('cut');
    return b.subarray(at, at += n);
  };
  /** @returns {any} */
  const value = () => {
    const first = take(1)[0];
    const [major, low] = [first >> 5, first & 31];
    if (major === 7) return { 20: false, 21: true }[low] ?? null;
    const long = low < 24 ? BigInt(low) : number(take(1 << low - 24));
    const n = Number(long);
    if (major === 0) return String(long);
    if (major === 1) return String(-1n - long);
    if (major === 2) return hexOf(take(n));
    if (major === 3) return new TextDecoder().decode(take(n));
    if (major === 4) return Array.from({ length: n }, value);
    if (major === 5) return Object.fromEntries(Array.from({ length: n }, () => [value(), value()]));
    const big = BigInt(value());
    return String(n === 3 ? -1n - big : big);
  };
  const out = value();
  if (at !== b.length) throw new Error('something follows');
  return out;
}

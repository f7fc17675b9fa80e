// @ts-check
// Schemas of actors: what a typed value shows, in events, outputs and state.
import { get, part } from './api.js';
import { bytes, count } from './format.js';
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
  if (t === 'Amount') return count(v); // of whatever the actor counts: a token's unit is not the chain's
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
 * entry is a row of typed state: its key and its value in words; null where no attribute has it, or where the value does not fit.
 * @param {Schema|null} s
 * @param {{typed?: {attribute?: string, value?: any}}} e
 * @returns {[string, string]|null}
 */
export function entry(s, { typed }) {
  if (!s || !typed?.attribute || typed.value === undefined) return null;
  const own = typed.attribute.split('[')[0];
  const a = s.state?.find((one) => one.name === own);
  return [typed.attribute.replace(/"(0x[0-9a-f]{40})"/g, (_, address) => name(address)), text(s, a ? a.type ?? a.list : 'u64', typed.value)];
}

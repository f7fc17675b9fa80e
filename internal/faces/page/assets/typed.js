// @ts-check
// Schemas of actors: what a typed value shows, in events, outputs and state.
import { get, encodePathPart } from './api.js';
import { formatBytes, formatCount } from './format.js';
import { h, makeLink, writeText } from './kit.js';
import { nameOf } from './names.js';
import { thingHref } from './route.js';
import { momentOf } from './moment.js';
import * as store from './store.js';

/**
 * @typedef {string|{[form: string]: any}} Type
 * @typedef {{name: string, type: Type, default?: any}} Field
 * @typedef {{name: string, doc?: string, raw?: boolean, callers?: string|string[], arguments?: Field[], returns?: Type}} Handler
 * @typedef {{handlers: Handler[], events?: string[], types?: {[name: string]: {record?: Field[], enum?: {name: string, value: any}[]}},
 *   state?: {name: string, type?: Type, list?: Type, key?: Type}[]}} Schema
 */

/** @type {Map<string, Promise<Schema|null>>} */
const schemaAnswers = new Map();

/**
 * fetchSchema returns null where the code has no schema. It is asked once: a name, another code, or another moment without a code, is another
 * key.
 * @param {string} address
 * @param {string} [code]
 * @param {string} [at]
 * @returns {Promise<Schema|null>}
 */
export function fetchSchema(address, code = '', at = momentOf()) {
  // the chain's own actors have none
  if (/^0x0{39}[12389]$/.test(address)) return Promise.resolve(null);
  const key = `${store.resetCount} ${address} ${code || at}`;
  let answer = schemaAnswers.get(key);
  if (!answer) {
    if (schemaAnswers.size > 200) schemaAnswers.clear();
    answer = get(`/actor/${encodePathPart(address)}/schema`, { at }).catch((e) => {
      // it is asked again
      if (e.status !== 404) schemaAnswers.delete(key);
      return null;
    });
    schemaAnswers.set(key, answer);
  }
  return answer;
}

/**
 * @param {Type} t
 * @returns {string}
 */
export function typeWords(t) {
  if (typeof t === 'string') return t;
  if (t.optional) return `${typeWords(t.optional)} or nothing`;
  if (t.list) return `list of ${typeWords(t.list)}`;
  if (t.tuple) return `[${t.tuple.map(typeWords).join(', ')}]`;
  if (t.dict) return `object of ${typeWords(t.dict[1])} by ${typeWords(t.dict[0])}`;
  if (t.int) return `int from ${formatCount(t.int[0])} to ${formatCount(t.int[1])}`;
  return t.str ? `str of ${t.str[0]} to ${t.str[1]} characters` : JSON.stringify(t);
}

/**
 * formatValue returns a value as its type has it.
 * @param {Schema} s
 * @param {Type|undefined} t
 * @param {any} v
 * @returns {string}
 */
export function formatValue(s, t, v) {
  if (v === null || v === undefined) return 'nothing';
  // of whatever the actor counts: a token's unit is not the chain's
  if (t === 'Amount') return formatCount(v);
  if (t === 'Address') return nameOf(String(v));
  if (t === 'bytes') return formatBytes(v) || '0x';
  if (t === 'int' || typeof t === 'string' && /^u\d+$/.test(t)) return formatCount(v);
  if (typeof t === 'string') {
    const { record, enum: members } = s.types?.[t] || {};
    if (members) return members.find((m) => String(m.value) === String(v))?.name || String(v);
    return record && typeof v === 'object' ? record.map((f) => `${f.name} ${formatValue(s, f.type, v[f.name])}`).join(', ') : String(v);
  }
  if (t?.optional) return formatValue(s, t.optional, v);
  if (Array.isArray(v)) return `[${v.map((one, i) => formatValue(s, t?.tuple ? t.tuple[i] : t?.list, one)).join(', ')}]`;
  if (t?.dict) return `{${Object.entries(v).map(([k, one]) => `${formatValue(s, t.dict[0], k)}: ${formatValue(s, t.dict[1], one)}`).join(', ')}}`;
  return t?.int ? formatCount(v) : typeof v === 'object' ? JSON.stringify(v) : String(v);
}

/**
 * makeTypedText returns bytes at first, and the typed value once the schema is there.
 * @param {string} address
 * @param {string} hex
 * @param {(s: Schema) => Type|undefined} typeOf
 */
function makeTypedText(address, hex, typeOf) {
  const el = h('span', null, formatBytes(hex));
  if (hex && hex !== '0x') fetchSchema(address).then((s) => {
    const t = s && typeOf(s);
    if (s && t) try { writeText(el, formatValue(s, t, JSON.parse(formatBytes(hex)))); } catch { /* the bytes stay */ }
  });
  return el;
}

/** @param {{actor: string, name: string, data: string}} e */
export function makeEventText(e) { return makeTypedText(e.actor, e.data, (s) => (s.events?.includes(e.name) ? e.name : undefined)); }

/**
 * @param {string} to
 * @param {string} handler
 * @param {string} hex
 */
export function makeOutputText(to, handler, hex) {
  return hex === '0x' || !hex ? '' : makeTypedText(to, hex, (s) => s.handlers.find((x) => x.name === handler)?.returns);
}

/**
 * makeStateRow returns null where no attribute has the row, or where the value does not fit.
 * @param {Schema|null} s
 * @param {{typed?: {attribute?: string, value?: any}}} e
 * @returns {[string, any]|null}
 */
export function makeStateRow(s, { typed }) {
  if (!s || !typed?.attribute || typed.value === undefined) return null;
  const own = typed.attribute.split('[')[0];
  const a = s.state?.find((one) => one.name === own);
  return [formatKey(typed.attribute), linkIfHash(formatValue(s, a ? a.type ?? a.list : 'u64', typed.value))];
}

/**
 * linkIfHash leads from the hash of a timer, a job or a transaction to it.
 * @param {string} value
 */
export function linkIfHash(value) { return /^0x[0-9a-f]{64}$/.test(value) ? makeLink(thingHref(`hash:${value}`), value) : value; }

/** @param {string} attribute */
function formatKey(attribute) { return attribute.replace(/"(0x[0-9a-f]{40})"/g, (_, address) => nameOf(address)); }

/**
 * makeChangeRow returns what an execution changed: the key, before and after, in the words that state has.
 * @param {{actor: string, key: string, old: string|null, new: string|null, typed?: {attribute?: string, value?: any, old?: any}}} c
 */
export function makeChangeRow(c) {
  const key = h('span', null, c.typed?.attribute ? formatKey(c.typed.attribute) : formatBytes(c.key));
  const [before, after] = [c.old, c.new].map((v) => h('span', null, v === null ? '—' : formatBytes(v)));
  if (c.typed?.attribute) fetchSchema(c.actor).then((s) => {
    for (const [el, raw, value] of /** @type {[any, string|null, any][]} */ ([[before, c.old, c.typed?.old], [after, c.new, c.typed?.value]])) {
      const row = raw === null ? null : makeStateRow(s, { typed: { attribute: c.typed?.attribute, value } });
      if (row) el.replaceChildren(row[1]);
    }
  });
  return [key, before, after];
}

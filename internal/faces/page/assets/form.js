// @ts-check
// Fields for the arguments of a typed handler. A value that is refused is told at its field.
import { h, showIf, writeText } from './kit.js';
import * as names from './names.js';
import { typeWords } from './typed.js';

/**
 * @typedef {import('./typed.js').Field} Field
 * @typedef {import('./typed.js').Schema} Schema
 * @typedef {import('./typed.js').Type} Type
 */

/**
 * Texts that were given last, by actor, handler and argument.
 * @type {Map<string, string>}
 */
const lastTexts = new Map();

/** An argument that is left out. */
const ABSENT = Symbol('absent');

/**
 * @param {Schema} schema
 * @param {Field[]} fields
 * @param {string} key
 */
export function makeArgumentForm(schema, fields, key) {
  /** @type {Map<string, {input: any, wrong: any}>} */
  const fieldsByPath = new Map();
  /**
   * @param {Field[]} list
   * @param {string} under
   * @returns {{el: any, read: () => {[name: string]: any}}}
   */
  const makeGroup = (list, under) => {
    const made = list.map((f) => ({ f, ...makeOne(f, under + f.name) }));
    return { el: made.map((m) => m.el), read: () => Object.fromEntries(made.map((m) => [m.f.name, m.read()]).filter(([, v]) => v !== ABSENT)) };
  };
  /**
   * @param {Field} f
   * @param {string} path
   */
  const makeOne = (f, path) => {
    const named = typeof f.type === 'string' ? schema.types?.[f.type] : undefined;
    if (named?.record && f.default === undefined) {
      const inner = makeGroup(named.record, path + '.');
      return { el: h('fieldset', null, h('legend', null, `${f.name}: ${f.type}`), inner.el), read: inner.read };
    }
    const options = named?.enum?.map((m) => [m.name, m.value]) ?? (f.type === 'bool' ? [['true', true], ['false', false]] : null);
    const json = Boolean(named?.record || typeof f.type !== 'string' && (f.type.list || f.type.tuple || f.type.dict || f.type.optional && typeof f.type.optional !== 'string'));
    const wrong = h('small', { class: 'wrong', hidden: true });
    const optional = f.default !== undefined;
    const input = options ? h('select', null, optional ? h('option', { value: '' }, `as given: ${JSON.stringify(f.default)}`) : null, options.map(([text], i) => h('option', { value: String(i) }, text)))
      : h(json ? 'textarea' : 'input', { autocomplete: 'off', spellcheck: 'false', rows: json ? 2 : null, placeholder: optional ? `left out: ${JSON.stringify(f.default)}` : json ? 'JSON' : '',
        list: includesType(f.type, 'Address') && !json ? 'addresses' : null });
    input.value = lastTexts.get(`${key} ${path}`) ?? input.value;
    input.addEventListener('input', () => { showIf(wrong, false); input.removeAttribute('aria-invalid'); });
    if (input.getAttribute('list')) input.addEventListener('focus', offerAddresses);
    fieldsByPath.set(path, { input, wrong });
    return {
      el: h('label', { class: 'field' }, h('span', null, `${f.name}: ${typeWords(f.type)}`), input, wrong),
      read: () => {
        const text = input.value;
        lastTexts.set(`${key} ${path}`, text);
        if (options) return text === '' ? ABSENT : options[Number(text)][1];
        if (text === '' && (optional || !includesType(f.type, 'str'))) return ABSENT;
        if (!json) return parseValue(f.type, text);
        try { return JSON.parse(text); } catch (e) { throw new Misread(path, `${f.name} is not JSON: ${/** @type {any} */ (e).message}`); }
      },
    };
  };
  const all = makeGroup(fields, '');
  /**
   * wrong tells at its field why a value is refused; false where no field has it.
   * @param {string} path
   * @param {string} why
   */
  const wrong = (path, why) => {
    const at = [...fieldsByPath.keys()].filter((p) => path === p || path.startsWith(p + '.') || path.startsWith(p + '[')).sort((a, b) => b.length - a.length)[0];
    const place = fieldsByPath.get(at);
    if (!place) return false;
    writeText(place.wrong, why);
    showIf(place.wrong, true);
    place.input.setAttribute('aria-invalid', 'true');
    place.input.focus();
    return true;
  };
  return {
    el: h('div', { class: 'orders typedform' }, fields.length ? all.el : h('p', { class: 'dim' }, 'It takes no arguments.')),
    args: all.read,
    clear() { for (const { input, wrong: w } of fieldsByPath.values()) { showIf(w, false); input.removeAttribute('aria-invalid'); } },
    wrong,
  };
}

/** Misread is a text that is no value. */
export class Misread extends Error {
  /**
   * @param {string} path
   * @param {string} words
   */
  constructor(path, words) {
    super(words);
    this.field = 'args.' + path;
    this.words = words;
  }
}

/**
 * includesType reports whether a type, or what it may be, is a word.
 * @param {any} t
 * @param {string} word
 * @returns {boolean}
 */
function includesType(t, word) { return t === word || Boolean(t[word]) || Boolean(t.optional) && includesType(t.optional, word); }

/**
 * parseValue gives numbers for integers that a number holds; others stay digits.
 * @param {any} t
 * @param {string} text
 * @returns {any}
 */
function parseValue(t, text) {
  if (t.optional) return parseValue(t.optional, text);
  const short = t === 'u8' || t === 'u16' || t === 'u32' || t.int && Number.isSafeInteger(Number(t.int[0])) && Number.isSafeInteger(Number(t.int[1]));
  return short && /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : includesType(t, 'str') ? text : text.trim();
}

const addressList = h('datalist', { id: 'addresses' });

function offerAddresses() {
  if (!addressList.isConnected) document.body.append(addressList);
  addressList.replaceChildren(...names.listNames().slice(0, 300).map((k) => h('option', { value: k.name }, k.kind)));
}

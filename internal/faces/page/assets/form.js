// @ts-check
// Fields for the arguments of a typed handler. A value that is refused is told at its field.
import { h, show, write } from './kit.js';
import * as names from './names.js';
import { words } from './typed.js';

/**
 * @typedef {import('./typed.js').Field} Field
 * @typedef {import('./typed.js').Schema} Schema
 * @typedef {import('./typed.js').Type} Type
 */

/**
 * Texts that were given last, by actor, handler and argument.
 * @type {Map<string, string>}
 */
const used = new Map();

/** An argument that is left out. */
const ABSENT = Symbol('absent');

/**
 * form makes the fields of a handler's arguments.
 * @param {Schema} schema
 * @param {Field[]} fields
 * @param {string} key
 */
export function form(schema, fields, key) {
  /** @type {Map<string, {input: any, wrong: any}>} */
  const places = new Map();
  /**
   * @param {Field[]} list
   * @param {string} under
   * @returns {{el: any, read: () => {[name: string]: any}}}
   */
  const group = (list, under) => {
    const made = list.map((f) => ({ f, ...one(f, under + f.name) }));
    return { el: made.map((m) => m.el), read: () => Object.fromEntries(made.map((m) => [m.f.name, m.read()]).filter(([, v]) => v !== ABSENT)) };
  };
  /**
   * @param {Field} f
   * @param {string} path
   */
  const one = (f, path) => {
    const named = typeof f.type === 'string' ? schema.types?.[f.type] : undefined;
    if (named?.record && f.default === undefined) {
      const inner = group(named.record, path + '.');
      return { el: h('fieldset', null, h('legend', null, `${f.name}: ${f.type}`), inner.el), read: inner.read };
    }
    const options = named?.enum?.map((m) => [m.name, m.value]) ?? (f.type === 'bool' ? [['true', true], ['false', false]] : null);
    const json = Boolean(named?.record || typeof f.type !== 'string' && (f.type.list || f.type.tuple || f.type.dict || f.type.optional && typeof f.type.optional !== 'string'));
    const wrong = h('small', { class: 'wrong', hidden: true });
    const optional = f.default !== undefined;
    const input = options ? h('select', null, optional ? h('option', { value: '' }, `as given: ${JSON.stringify(f.default)}`) : null, options.map(([text], i) => h('option', { value: String(i) }, text)))
      : h(json ? 'textarea' : 'input', { autocomplete: 'off', spellcheck: 'false', rows: json ? 2 : null, placeholder: optional ? `left out: ${JSON.stringify(f.default)}` : json ? 'JSON' : '',
        list: holds(f.type, 'Address') && !json ? 'addresses' : null });
    input.value = used.get(`${key} ${path}`) ?? input.value;
    input.addEventListener('input', () => { show(wrong, false); input.removeAttribute('aria-invalid'); });
    if (input.getAttribute('list')) input.addEventListener('focus', addresses);
    places.set(path, { input, wrong });
    return {
      el: h('label', { class: 'field' }, h('span', null, `${f.name}: ${words(f.type)}`), input, wrong),
      read: () => {
        const text = input.value;
        used.set(`${key} ${path}`, text);
        if (options) return text === '' ? ABSENT : options[Number(text)][1];
        if (text === '' && (optional || !holds(f.type, 'str'))) return ABSENT;
        if (!json) return valueOf(f.type, text);
        try { return JSON.parse(text); } catch (e) { throw new Misread(path, `${f.name} is not JSON: ${/** @type {any} */ (e).message}`); }
      },
    };
  };
  const all = group(fields, '');
  /**
   * wrong tells at its field why a value is refused; false where no field has it.
   * @param {string} path
   * @param {string} why
   */
  const wrong = (path, why) => {
    const at = [...places.keys()].filter((p) => path === p || path.startsWith(p + '.') || path.startsWith(p + '[')).sort((a, b) => b.length - a.length)[0];
    const place = places.get(at);
    if (!place) return false;
    write(place.wrong, why);
    show(place.wrong, true);
    place.input.setAttribute('aria-invalid', 'true');
    place.input.focus();
    return true;
  };
  return {
    el: h('div', { class: 'orders typedform' }, fields.length ? all.el : h('p', { class: 'dim' }, 'It takes no arguments.')),
    args: all.read,
    clear() { for (const { input, wrong: w } of places.values()) { show(w, false); input.removeAttribute('aria-invalid'); } },
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
 * holds reports whether a type, or what it may be, is a word.
 * @param {any} t
 * @param {string} word
 * @returns {boolean}
 */
function holds(t, word) { return t === word || Boolean(t[word]) || Boolean(t.optional) && holds(t.optional, word); }

/**
 * valueOf is a text as the value of a type: integers that a number holds are numbers, others are digits.
 * @param {any} t
 * @param {string} text
 * @returns {any}
 */
function valueOf(t, text) {
  if (t.optional) return valueOf(t.optional, text);
  const short = t === 'u8' || t === 'u16' || t === 'u32' || t.int && Number.isSafeInteger(Number(t.int[0])) && Number.isSafeInteger(Number(t.int[1]));
  return short && /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : holds(t, 'str') ? text : text.trim();
}

const list = h('datalist', { id: 'addresses' });

/** addresses offers who has a name. */
function addresses() {
  if (!list.isConnected) document.body.append(list);
  list.replaceChildren(...names.all().slice(0, 300).map((k) => h('option', { value: k.name }, k.kind)));
}

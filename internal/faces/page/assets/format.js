// @ts-check
// How quantities are written. Text of others goes through visibleText before anybody sees it.

const MOST_CHARACTERS = 4096;

/** Characters that would move, hide or turn text: control, format (bidi, zero width), private, lone surrogates, separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * visibleText escapes control and bidi characters, and cuts text at 4 KiB.
 * @param {unknown} value
 * @param {boolean} [lines] line ends and tabs stay
 * @returns {string}
 */
export function visibleText(value, lines = false) {
  if (value === null || value === undefined) return '';
  let text = String(value);
  const over = text.length - MOST_CHARACTERS;
  if (over > 0) text = text.slice(0, MOST_CHARACTERS);
  text = text.replace(UNSEEN, (c) => {
    if (lines && (c === '\n' || c === '\t')) return c;
    return '\\u{' + (c.codePointAt(0) ?? 0).toString(16) + '}';
  });
  return over > 0 ? `${text}… (${formatCount(over)} more)` : text;
}

/**
 * formatCount groups digits: 12,345.
 * @param {number|bigint|string} n
 * @returns {string}
 */
export function formatCount(n) {
  const text = String(n);
  return /^-?\d+$/.test(text) ? text.replace(/\B(?=(\d{3})+(?!\d))/g, ',') : text;
}

/**
 * shortenID leaves the beginning and the end of a hash or an address.
 * @param {string} id
 * @returns {string}
 */
export function shortenID(id) {
  return id && id.length > 15 ? id.slice(0, 8) + '…' + id.slice(-4) : id || '';
}

/** CBY in wei: 10^9. */
const CBY = 1000000000n;

/**
 * formatMoney is exact to the wei, in CBY where that is shorter.
 * @param {string|null|undefined} wei
 * @returns {string}
 */
export function formatMoney(wei) {
  if (wei === null || wei === undefined || wei === '') return '';
  let n;
  try { n = BigInt(wei); } catch { return visibleText(wei); }
  const sign = n < 0n ? '-' : '';
  if (n < 0n) n = -n;
  if (n < CBY / 1000n) return `${sign}${formatCount(n)} wei`;
  const part = (n % CBY).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${formatCount(n / CBY)}${part ? '.' + part : ''} CBY`;
}

/**
 * @param {string|null|undefined} n
 * @returns {string}
 */
export function formatWei(n) { return n === null || n === undefined || n === '' ? '' : formatCount(n) + ' wei'; }

/**
 * @param {number} ms
 * @returns {string}
 */
export function formatDuration(ms) {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
  if (ms < 3600000) return `${Math.floor(ms / 60000)} min ${Math.round(ms % 60000 / 1000)} s`;
  return `${Math.floor(ms / 3600000)} h ${Math.round(ms % 3600000 / 60000)} min`;
}

/**
 * formatTime is the time of day of a chain's timestamp.
 * @param {number} ms
 * @returns {string}
 */
export function formatTime(ms) {
  if (!ms) return '';
  const d = new Date(ms);
  return Number.isNaN(d.getTime()) ? String(ms) : d.toISOString().slice(11, 23);
}

/**
 * formatRate takes blocks a second.
 * @param {number} n
 * @returns {string}
 */
export function formatRate(n) { return n >= 100 ? Math.round(n).toString() : n >= 10 ? n.toFixed(1) : n.toFixed(2); }

/**
 * formatCompact returns a large number in four characters or so.
 * @param {number} n
 * @returns {string}
 */
export function formatCompact(n) {
  for (const [unit, size] of /** @type {[string, number][]} */ ([['G', 1e9], ['M', 1e6], ['k', 1e3]])) {
    if (Math.abs(n) >= size) return (n / size).toFixed(Math.abs(n) >= 100 * size ? 0 : 1).replace(/\.0$/, '') + unit;
  }
  return Number.isInteger(n) ? String(n) : n.toFixed(1);
}

/**
 * formatBytes returns what 0x and hexadecimal digits stand for, as text where it is that.
 * @param {string|null|undefined} hex
 * @returns {string}
 */
export function formatBytes(hex) {
  if (!hex || hex === '0x') return '';
  const data = decodeHex(hex);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(data);
    if (!/[\p{Cc}\p{Cs}]/u.test(text.replace(/[\n\t]/g, ''))) return text;
  } catch { /* it is no text */ }
  return hex;
}

/**
 * @param {string} hex
 * @returns {Uint8Array}
 */
function decodeHex(hex) {
  const digits = hex.startsWith('0x') ? hex.slice(2) : hex;
  const out = new Uint8Array(digits.length >> 1);
  for (let i = 0; i < out.length; i++) out[i] = parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return out;
}

/**
 * decodeBitmap takes base64; hasBit tells one.
 * @param {string} base64
 * @returns {Uint8Array}
 */
export function decodeBitmap(base64) {
  const raw = atob(base64 || '');
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

/**
 * @param {Uint8Array} map
 * @param {number} i
 * @returns {boolean}
 */
export function hasBit(map, i) { return (map[i >> 3] >> (i & 7) & 1) === 1; }

/**
 * joinNames: a, b and c.
 * @param {string[]} list
 * @returns {string}
 */
export function joinNames(list) {
  return list.length < 2 ? list.join('') : list.slice(0, -1).join(', ') + ' and ' + list[list.length - 1];
}

/**
 * formatPlural: 1 block, 2 blocks.
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 * @returns {string}
 */
export function formatPlural(n, one, many) { return `${formatCount(n)} ${n === 1 ? one : many || one + 's'}`; }

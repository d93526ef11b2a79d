import { RE2JS, RE2JSException } from 're2js';
import { badQuery } from './bad-query.js';

/** @import { MillraceError } from '../../../common/errors.js' */

/**
 * The condition of a selector on one label. `texts`: the only values that it accepts; null: it does not list them.
 *
 * @typedef {{ label: string, texts: string[] | null, accepts: (value: string) => boolean }} Matcher
 */

/** Limit of instructions of a compiled regular expression. A match of one name takes up to 2.5 µs for each of them. */
const MAX_INSTRUCTIONS = 300;

/** Limit of label values whose match is remembered. The sensors of a fleet have few sites, types and units. */
const MAX_REMEMBERED = 10_000;

/** Matches `a` and `(a|b)`, without other operators of regular expressions. Grafana writes a variable with several values like this. */
const ALTERNATIVES = (() => {
  const text = String.raw`(?:[^\\^$.|?*+()[\]{}]|\\[\\^$.|?*+()[\]{}])+`;
  const texts = String.raw`(${text}(?:\|${text})*)`;
  return new RegExp(String.raw`^(?:\(${texts}\)|${texts})$`, 's');
})();

/** @param {string} pattern @returns {string[] | null} the texts of a list; null: the pattern is not a list */
function alternativesOf(pattern) {
  const [, inBrackets, bare] = ALTERNATIVES.exec(pattern) ?? [];
  const list = inBrackets ?? bare;
  // A bar without a backslash separates two texts.
  return list === undefined
    ? null
    : (list.match(/(?:[^\\|]|\\.)+/gs) ?? []).map((text) => text.replaceAll(/\\(.)/gs, '$1'));
}

/** @param {string} label @param {string} operator @param {string} text @returns {Matcher} @throws {MillraceError} `bad_parameter` */
export function createMatcher(label, operator, text) {
  const isWanted = operator === '=' || operator === '=~';
  const isPattern = operator === '=~' || operator === '!~';
  const texts = isPattern ? alternativesOf(text) : [text];
  const matches = texts ? isOneOf(texts) : compile(text);
  return { label, texts: isWanted && texts ? texts : null, accepts: (value) => matches(value) === isWanted };
}

/**
 * Compiles a regular expression of RE2, as in Prometheus. Its time grows with the length of a value, and not exponentially as
 * that of a hostile `RegExp`.
 *
 * @param {string} text
 * @returns {(value: string) => boolean}
 * @throws {MillraceError} `bad_parameter`
 */
function compile(text) {
  const pattern = compiled(text);
  if (pattern.programSize() > MAX_INSTRUCTIONS)
    throw badQuery(`${text} is too large a regular expression. List the texts: (a|b|c)`);
  /** @type {Map<string, boolean>} */
  const known = new Map();
  return (value) => {
    const isMatch = known.get(value) ?? pattern.matches(value);
    if (known.size < MAX_REMEMBERED) known.set(value, isMatch);
    return isMatch;
  };
}

/** @param {string} text @throws {MillraceError} `bad_parameter` */
function compiled(text) {
  try {
    return RE2JS.compile(text, RE2JS.DOTALL);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw badQuery(`${text} is not a valid regular expression of RE2: ${error.message}`);
  }
}

/** @param {string[]} texts @returns {(value: string) => boolean} */
function isOneOf(texts) {
  const set = new Set(texts);
  return (value) => set.has(value);
}

const ESCAPES = new Map(
  Object.entries({
    '\\': '\\',
    '"': '"',
    "'": "'",
    n: '\n',
    t: '\t',
    r: '\r',
    a: '\x07',
    b: '\b',
    f: '\f',
    v: '\v',
  }),
);
const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|(.))/gs;

/** Reads a string literal with the escapes of Go. @param {string} literal with its quotation marks @returns {string} @throws {MillraceError} `bad_parameter` */
export function unquote(literal) {
  const text = literal.slice(1, -1);
  if (literal.startsWith('`')) return text;
  return text.replaceAll(ESCAPE, (written, x, u, long, octal, plain) => {
    const known = ESCAPES.get(plain);
    if (known !== undefined) return known;
    const code = octal === undefined ? Number.parseInt(x ?? u ?? long, 16) : Number.parseInt(octal, 8);
    if (!(code <= 0x10ffff)) throw badQuery(`${written} is not an escape of Go`);
    return String.fromCodePoint(code);
  });
}

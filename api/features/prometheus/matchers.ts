import { RE2JS, RE2JSException } from 're2js';
import { badQuery } from './bad-query.ts';

/** `texts`: the only values that it accepts; null: it does not list them. */
export type Matcher = { label: string; texts: string[] | null; accepts: (value: string) => boolean };

/**
 * `characters` of one regular expression, and the sums over a request. A match of one name takes up to 2.5 µs for each instruction. `work`
 * estimates the time to compile, about 15 µs for each unit.
 */
const LIMITS = { characters: 1000, work: 2000, instructions: 300 };

/** In addition to one for each character: each class such as `\p{L}`, and each range that ignores case, such as `(?i)[a-z]`. */
const WORK = { unicodeClass: 20, foldedRange: 300 };

/** The rest of the budget for the regular expressions of one request. */
export class PatternBudget {
  #work = LIMITS.work;
  #instructions = LIMITS.instructions;

  /** Call it before `text` is compiled. @throws `bad_parameter` */
  takeText(text: string) {
    const [classes, ranges] = [/\\p/gi, /-/g].map((part) => text.match(part)?.length ?? 0);
    const isFolded = /\(\?\w*i/.test(text);
    this.#work -=
      text.length + WORK.unicodeClass * Number(classes) + (isFolded ? WORK.foldedRange * Number(ranges) : 0);
    if (text.length > LIMITS.characters || this.#work < 0) throw tooLarge(text);
  }

  /** @throws `bad_parameter` */
  takeInstructions(text: string, instructions: number) {
    this.#instructions -= instructions;
    if (this.#instructions < 0) throw tooLarge(text);
  }
}

const tooLarge = (text: string) =>
  badQuery(
    `the regular expressions up to ${shown(text)} are too large. Together they may have ${LIMITS.instructions} instructions of RE2, and each ${LIMITS.characters} characters. List the texts: (a|b|c), or use fewer classes and repetitions`,
  );

const shown = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** The sensors of a fleet have few sites, types and units. */
const MAX_REMEMBERED = 10_000;

/** Matches `a` and `(a|b)`, without other operators. Grafana writes a variable with several values like this. */
const ALTERNATIVES = (() => {
  const text = String.raw`(?:[^\\^$.|?*+()[\]{}]|\\[\\^$.|?*+()[\]{}])+`;
  const texts = String.raw`(${text}(?:\|${text})*)`;
  return new RegExp(String.raw`^(?:\(${texts}\)|${texts})$`, 's');
})();

/** Null: the pattern is not a list of texts. */
function alternativesOf(pattern: string): string[] | null {
  const [, inBrackets, bare] = ALTERNATIVES.exec(pattern) ?? [];
  const list = inBrackets ?? bare;
  // A bar without a backslash separates two texts.
  return list === undefined
    ? null
    : (list.match(/(?:[^\\|]|\\.)+/gs) ?? []).map((text) => text.replaceAll(/\\(.)/gs, '$1'));
}

/** @throws `bad_parameter` */
export function createMatcher(
  label: string,
  operator: string,
  text: string,
  budget: PatternBudget = new PatternBudget(),
): Matcher {
  const isWanted = operator === '=' || operator === '=~';
  const isPattern = operator === '=~' || operator === '!~';
  const texts = isPattern ? alternativesOf(text) : [text];
  const matches = texts ? isOneOf(texts) : compile(text, budget);
  return { label, texts: isWanted && texts ? texts : null, accepts: (value) => matches(value) === isWanted };
}

/**
 * RE2, as in Prometheus. Its time grows with the length of a value, and not exponentially as that of a hostile `RegExp`. Throws
 * `bad_parameter`.
 */
function compile(text: string, budget: PatternBudget): (value: string) => boolean {
  budget.takeText(text);
  const pattern = compiled(text);
  budget.takeInstructions(text, pattern.programSize());
  const known: Map<string, boolean> = new Map();
  return (value) => {
    const isMatch = known.get(value) ?? pattern.matches(value);
    if (known.size < MAX_REMEMBERED) known.set(value, isMatch);
    return isMatch;
  };
}

/** @throws `bad_parameter` */
function compiled(text: string) {
  try {
    return RE2JS.compile(text, RE2JS.DOTALL);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw badQuery(`${shown(text)} is not a valid regular expression of RE2: ${error.message}`);
  }
}

function isOneOf(texts: string[]): (value: string) => boolean {
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

/** A string literal with its quotation marks and the escapes of Go. @throws `bad_parameter` */
export function unquote(literal: string): string {
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

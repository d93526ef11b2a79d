import { RE2JS } from 're2js';
import { joinNames, nameOfPart } from '../../../schema/sensor-names.ts';

/** texts by the name of their level, such as `{ device: 'kitchen' }` */
export type Levels = Record<string, string>;

type Level = { name: string } | { any: true } | { text: string };

const NAMED = /^\{([a-z][a-z0-9_]*)\}$/;

/** Topics of Millrace and of brokers. Mappings must not read them: live values would be stored again. */
const RESERVED = /^(?:iot|\$[^/]*)(?:\/|$)/;

export const isReserved = (topic: string): boolean => RESERVED.test(topic);

/** Such as `application/+/device/{device}/event/up`. `+` matches one level with any text, and `#` at the end any further levels. */
export class TopicPattern {
  #levels: Level[];
  #isOpen;
  text;

  constructor(text: string) {
    this.text = text;
    const levels = text.split('/');
    this.#isOpen = levels.at(-1) === '#';
    if (this.#isOpen) levels.pop();
    this.#levels = levels.map((level) => {
      const [, name] = NAMED.exec(level) ?? [];
      if (name !== undefined) return { name };
      return level === '+' ? { any: true } : { text: level };
    });
  }

  /** Each name occurs once. */
  get names(): string[] {
    return this.#levels.flatMap((level) => ('name' in level ? [level.name] : []));
  }

  get filter(): string {
    const levels = this.#levels.map((level) => ('text' in level ? level.text : '+'));
    return [...levels, ...(this.#isOpen ? ['#'] : [])].join('/');
  }

  filterFor(device: string): string {
    const levels = this.#levels.map((level) => {
      if ('name' in level && level.name === 'device') return device;
      return 'text' in level ? level.text : '+';
    });
    return [...levels, ...(this.#isOpen ? ['#'] : [])].join('/');
  }

  match(levels: string[]): Levels | null {
    const wanted = this.#levels;
    if (this.#isOpen ? levels.length < wanted.length : levels.length !== wanted.length) return null;
    const found: Levels = {};
    for (const [index, level] of wanted.entries()) {
      const text = levels[index] as string;
      if ('name' in level) {
        if (text === '') return null;
        found[level.name] = text;
      } else if ('text' in level && level.text !== text) return null;
    }
    return found;
  }
}

/** `wide` matches every topic that `narrow` matches. */
export function covers(wide: string, narrow: string): boolean {
  const wideLevels = wide.split('/');
  const narrowLevels = narrow.split('/');
  for (const [index, level] of wideLevels.entries()) {
    if (level === '#') return true;
    const other = narrowLevels[index];
    if (other === undefined || other === '#' || (level !== '+' && level !== other)) return false;
  }
  return wideLevels.length === narrowLevels.length;
}

/** Returns null if the pattern is valid. */
export function brokenPatternRule(text: string): string | null {
  const levels = text.split('/');
  const names = levels.flatMap((level) => NAMED.exec(level)?.[1] ?? []);
  if (isReserved(text)) return 'must not begin with iot or $: these topics have a meaning of their own';
  if (levels.some((level) => /[+#{}]/.test(level) && !isWild(level)))
    return 'must have +, # and {name} as whole levels, and names of a-z, 0-9 and _';
  if (levels.slice(0, -1).includes('#')) return 'must have # as its last level only';
  if (levels.every(isWild)) return 'must have a level with a fixed text: it would match every topic';
  if (new Set(names).size < names.length) return 'must not have two levels of the same name';
  return null;
}

const isWild = (level: string) => level === '+' || level === '#' || NAMED.test(level);

/** A longer text does not match. */
const MAX_TEXT = 256;

/** Named parts and wildcards; the time of a comparison grows with their number. */
export const MAX_PARTS = 3;

/** White space of JavaScript. `\s` of RE2 has only that of ASCII. */
const SPACE = String.raw`[\t\n\v\f\r\p{Z}\x{feff}]*`;

/**
 * A text with named parts, such as `{{ value_json.{sensor} }}`. A named part matches a-z, A-Z, digits, `_`, `.`, `:`
 * and `-`. `*` matches any text, and a space matches any white space or none. The time of RE2 grows with the length of
 * the text. A `RegExp` took 3 s to compare `* * * x` with 64 spaces.
 */
export class TextPattern {
  #expression;
  names: string[];
  /** named parts and wildcards */
  size;

  constructor(text: string) {
    const parts = text.split(/(\{[a-z][a-z0-9_]*\}|\*|\s+)/);
    this.names = parts.flatMap((part) => NAMED.exec(part)?.[1] ?? []);
    this.size = this.names.length + parts.filter((part) => part === '*').length;
    this.#expression = RE2JS.compile(parts.map(expressionOf).join(''), RE2JS.DOTALL);
  }

  match(text: string): Levels | null {
    if (text.length > MAX_TEXT) return null;
    const matcher = this.#expression.matcher(text);
    if (!matcher.matches()) return null;
    return Object.fromEntries(this.names.map((name, index) => [name, String(matcher.group(index + 1))]));
  }
}

function expressionOf(part: string): string {
  if (NAMED.test(part)) return '([0-9A-Za-z_.:-]+)';
  if (part === '*') return '.*';
  return /^\s+$/.test(part) ? SPACE : RE2JS.quote(part);
}

const PART = /\{([a-z][a-z0-9_]*)\}/g;

/** Such a template is `{site}-{device}`. */
export const namesIn = (template: string): string[] =>
  [...template.matchAll(PART)].map(([, name]) => String(name));

/** Returns null if a name has no text. */
export function filled(template: string, levels: Levels): string | null {
  if (!template.includes('{')) return template;
  // A name such as `constructor` is also a member that every object inherits.
  if (!namesIn(template).every((name) => Object.hasOwn(levels, name))) return null;
  return template.replaceAll(PART, (_, name) => levels[name] as string);
}

/** Names a sensor by levels. `path` is a name already, and all other levels are parts of names. */
export class SensorTemplate {
  /** Fixed texts at even indexes, and names of levels between them. */
  #parts;
  #isDotted;
  names: string[];
  /** Different levels may give the same text, such as `{a}-{b}` for x-y and z, and for x and y-z. */
  isAmbiguous;

  constructor(text: string) {
    this.#parts = text.split(PART);
    this.names = namesIn(text);
    const between = this.#parts.filter((_, index) => index % 2 === 0).slice(1, -1);
    this.#isDotted = between.length > 0 && between.every((fixed) => fixed.includes('.'));
    this.isAmbiguous = between.length > 0 && !this.#isDotted;
  }

  /** Returns null if a name has no text. */
  fill(levels: Levels): string | null {
    let [text = ''] = this.#parts;
    for (let index = 1; index < this.#parts.length; index += 2) {
      const [before, name, after] = this.#parts.slice(index - 1, index + 2) as [string, string, string];
      // A name such as `constructor` is also a member that every object inherits.
      if (!Object.hasOwn(levels, name)) return null;
      const level = levels[name] as string;
      const part = this.#isDotted && name !== 'path' ? nameOfPart(level) : level;
      text = index > 1 && before === '.' ? joinNames(text.slice(0, -1), part) : text + part;
      text += after;
    }
    return text;
  }
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const FORM_FEED = 0x0c;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const HASH = 0x23;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const EQUALS = 0x3d;
const UPPER_E = 0x45;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;
const LOWER_I = 0x69;
const LOWER_U = 0x75;

/** Every integer with up to 15 digits, and every power of ten up to 10^15, is exact as a double. */
const EXACT_DIGITS = 15;
const POWERS = Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** The parser reads longer measurement and tags without the cache of known series. */
const MAX_KNOWN_LENGTH = 4096;

/** The parser reads any further series and fields without the cache. */
const MAX_KNOWN_SERIES = 10_000;
const MAX_KNOWN_FIELDS = 1000;

const MAX_TIME_DIGITS = 19;
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;

const RULES = {
  measurement: 'must begin with the name of a measurement',
  tag: 'must have a tag such as room=kitchen after each comma before the first space',
  twice: 'must not have a tag or a field twice',
  field: 'must have a space and then a field such as value=21.5',
  value: 'must have a value such as 21.5, 21i, 21u, true or "text" after each =',
  range: 'must have integers of 64 bits',
  time: 'must end after the fields, or with a time of at most 19 digits',
};

type Field<F> = { raw: string; meaning: F };

type Series<S, F> = { meaning: S; fields: Field<F>[]; byRaw: Map<string, Field<F>> };

interface Describe<S, F> {
  /** called once for each series of the text */
  seriesOf: (measurement: string, tags: Map<string, string>) => S;
  /** called once for each field of a series */
  fieldOf: (series: S, key: string) => F;
}

/**
 * Reads line protocol of InfluxDB by the grammar of Telegraf 1.37: `measurement,tag=value field=1.5,other=2i
 * 1795680000000000000`. A line that breaks the grammar ends at its first newline, so the next lines are read normally.
 *
 * npm has no parser of this format. Two measures make this one fast. The text up to the first space (measurement and
 * tags) is looked up as a whole among the series of earlier lines. Each key of a field is first compared with the known
 * field of the series at the same position.
 */
export class LineParser<S, F> {
  #text;
  #describe;
  #at = 0;
  #lineAt = 1;
  #nextSpace = -1;
  #nextNewline = -1;
  #known: Map<string, Series<S, F>> = new Map();

  /** counted from 1 */
  line = 0;
  /** The rule that the line breaks; null: the members below are set. */
  error: string | null = null;
  series: S | undefined = undefined;
  /** Fields of the line that have a number. Only the first `count` elements are valid. */
  fields: F[] = [];
  values: number[] = [];
  count = 0;
  /** number of text fields in the line */
  texts = 0;
  /** text fields, only if `keepsStrings` is set */
  strings: Array<{ field: F; text: string }> = [];
  /** raw; empty: the line has no time */
  time = '';

  #keepsStrings;

  constructor(
    text: string,
    describe: Describe<S, F>,
    { keepsStrings = false }: { keepsStrings?: boolean } = {},
  ) {
    this.#text = text;
    this.#describe = describe;
    this.#keepsStrings = keepsStrings;
  }

  /** Skips empty lines and comments. Returns false if there is no further line. */
  next(): boolean {
    if (!this.#skipEmptyLines()) return false;
    const begin = this.#at;
    this.line = this.#lineAt;
    this.count = 0;
    this.texts = 0;
    if (this.#keepsStrings) this.strings = [];
    this.time = '';
    this.error = this.#readLine();
    if (this.error === null) return true;
    const end = this.#text.indexOf('\n', begin);
    this.#at = end < 0 ? this.#text.length : end + 1;
    this.#lineAt = this.line + 1;
    return true;
  }

  /** Returns false if no line follows. */
  #skipEmptyLines(): boolean {
    const text = this.#text;
    while (this.#at < text.length) {
      const char = text.charCodeAt(this.#at);
      if (char === NEWLINE) this.#lineAt++;
      else if (char === HASH) {
        const end = text.indexOf('\n', this.#at);
        this.#at = end < 0 ? text.length : end;
        continue;
      } else if (!isSpace(char) && !(char === RETURN && text.charCodeAt(this.#at + 1) === NEWLINE))
        return true;
      this.#at++;
    }
    return false;
  }

  /** Returns the rule that the line breaks, like the functions below. */
  #readLine(): string | null {
    const series = this.#readSeries();
    if (typeof series === 'string') return series;
    this.series = series.meaning;
    this.#skipSpaces();
    const broken = this.#readFields(series);
    return broken ?? this.#readEnd();
  }

  #readSeries(): Series<S, F> | string {
    const text = this.#text;
    const from = this.#at;
    if (this.#nextSpace < from) {
      const found = text.indexOf(' ', from);
      this.#nextSpace = found < 0 ? text.length : found;
    }
    if (this.#nextNewline < from) {
      const found = text.indexOf('\n', from);
      this.#nextNewline = found < 0 ? text.length : found;
    }
    // The next space may be in a later line. Without this check, each of many lines without a space would slice and hash the text after it.
    const isSought = this.#nextSpace < this.#nextNewline && this.#nextSpace - from <= MAX_KNOWN_LENGTH;
    const known = isSought ? this.#known.get(text.slice(from, this.#nextSpace)) : undefined;
    if (known) {
      this.#at = this.#nextSpace;
      return known;
    }
    this.#at = this.#endOfName(from);
    if (this.#at === from) return RULES.measurement;
    const name = text.slice(from, this.#at);
    const measurement = name.includes('\\') ? name.replaceAll(/\\([, ])/g, '$1') : name;
    const tags = this.#readTags();
    if (typeof tags === 'string') return tags;
    if (!isSpace(text.charCodeAt(this.#at))) return RULES.field;
    const meaning = this.#describe.seriesOf(measurement, tags);
    const series: Series<S, F> = { meaning, fields: [], byRaw: new Map() };
    if (this.#at === this.#nextSpace && this.#known.size < MAX_KNOWN_SERIES) {
      this.#known.set(text.slice(from, this.#at), series);
    }
    return series;
  }

  #readTags(): Map<string, string> | string {
    const text = this.#text;
    const tags: Map<string, string> = new Map();
    while (text.charCodeAt(this.#at) === COMMA) {
      const keyFrom = this.#at + 1;
      const keyTo = this.#endOfTag(keyFrom);
      if (keyTo === keyFrom || text.charCodeAt(keyTo) !== EQUALS) return RULES.tag;
      const valueTo = this.#endOfTag(keyTo + 1);
      if (valueTo === keyTo + 1 || text.charCodeAt(valueTo) === EQUALS) return RULES.tag;
      const key = unescaped(text.slice(keyFrom, keyTo));
      if (tags.has(key)) return RULES.twice;
      tags.set(key, unescaped(text.slice(keyTo + 1, valueTo)));
      this.#at = valueTo;
    }
    return tags;
  }

  #readFields(series: Series<S, F>): string | null {
    const text = this.#text;
    // Fields in their usual places differ, so only a line with other fields is checked for a field that occurs twice.
    let seen: Set<string> | null = null;
    for (let place = 0; ; place++) {
      const field = this.#readKey(series, place);
      if (!field) return RULES.field;
      if (seen !== null || field !== series.fields[place]) {
        seen ??= new Set(series.fields.slice(0, place).map(({ raw }) => unescaped(raw)));
        const key = unescaped(field.raw);
        if (seen.has(key)) return RULES.twice;
        seen.add(key);
      }
      if (text.charCodeAt(this.#at) === QUOTE) {
        const from = this.#at + 1;
        if (!this.#skipText()) return RULES.value;
        this.texts++;
        if (this.#keepsStrings) {
          const string = text.slice(from, this.#at - 1).replaceAll(/\\([\\"])/g, '$1');
          this.strings.push({ field: field.meaning, text: string });
        }
      } else {
        const value = this.#readValue();
        if (value === null) return RULES.range;
        if (Number.isNaN(value)) return RULES.value;
        this.fields[this.count] = field.meaning;
        this.values[this.count++] = value;
      }
      if (text.charCodeAt(this.#at) !== COMMA) return null;
      this.#at++;
    }
  }

  /** `place`: position of the field in the line. Returns null if there is no valid key. */
  #readKey(series: Series<S, F>, place: number): Field<F> | null {
    const text = this.#text;
    const from = this.#at;
    const usual = series.fields[place];
    if (usual && text.startsWith(usual.raw, from) && text.charCodeAt(from + usual.raw.length) === EQUALS) {
      this.#at = from + usual.raw.length + 1;
      return usual;
    }
    const to = this.#endOfKey(from);
    if (to === from || text.charCodeAt(to) !== EQUALS) return null;
    this.#at = to + 1;
    const raw = text.slice(from, to);
    const known = series.byRaw.get(raw);
    if (known) return known;
    const field = { raw, meaning: this.#describe.fieldOf(series.meaning, unescaped(raw)) };
    if (series.byRaw.size < MAX_KNOWN_FIELDS) {
      // Two keys with escapes may mean the same field, so only keys without escapes have a usual place.
      if (!raw.includes('\\')) series.fields.push(field);
      series.byRaw.set(raw, field);
    }
    return field;
  }

  /** A text in quotation marks may contain newlines. Returns false if it has no closing mark. */
  #skipText(): boolean {
    const text = this.#text;
    for (let at = this.#at + 1; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (char === BACKSLASH) at++;
      if (text.charCodeAt(at) === NEWLINE) this.#lineAt++;
      if (char !== QUOTE) continue;
      this.#at = at + 1;
      return true;
    }
    return false;
  }

  /** Returns NaN for no value, and null for an integer beyond 64 bits. */
  #readValue(): number | null {
    const text = this.#text;
    const from = this.#at;
    let at = text.charCodeAt(from) === MINUS ? from + 1 : from;
    const digitsFrom = at;
    let whole = 0;
    let char = text.charCodeAt(at);
    for (; char >= ZERO && char <= NINE; char = text.charCodeAt(++at)) whole = whole * 10 + (char - ZERO);
    let digits = at - digitsFrom;
    if (char === LOWER_I || char === LOWER_U) return this.#readInteger(digitsFrom, at);
    let decimals = 0;
    if (char === DOT) {
      const decimalsFrom = ++at;
      char = text.charCodeAt(at);
      for (; char >= ZERO && char <= NINE; char = text.charCodeAt(++at)) whole = whole * 10 + (char - ZERO);
      decimals = at - decimalsFrom;
      digits += decimals;
    }
    if (digits === 0) return at === from ? this.#readBoolean() : Number.NaN;
    const isLong = char === LOWER_E || char === UPPER_E;
    if (isLong) at = this.#endOfExponent(at);
    if (at < 0) return Number.NaN;
    this.#at = at;
    if (isLong || digits > EXACT_DIGITS) return Number(text.slice(from, at));
    // The quotient of two integers that are exact as doubles is rounded correctly (Clinger 1990), as in json-cursor.ts.
    const magnitude = decimals === 0 ? whole : whole / (POWERS[decimals] as number);
    return digitsFrom === from ? magnitude : -magnitude;
  }

  /** `to`: index of the `i` or `u` */
  #readInteger(from: number, to: number) {
    const text = this.#text;
    const isSigned = text.charCodeAt(to) === LOWER_I;
    const isNegative = from !== this.#at;
    // No digit, more digits after a zero, or an unsigned integer with a sign.
    if (from === to || (text.charCodeAt(from) === ZERO && to - from > 1) || (isNegative && !isSigned)) {
      return Number.NaN;
    }
    const digits = text.slice(from, to);
    if (digits.length > 18) {
      if (digits.length > 20) return null;
      const most = isSigned ? INT64_MAX + BigInt(isNegative) : UINT64_MAX;
      if (BigInt(digits) > most) return null;
    }
    this.#at = to + 1;
    // An integer has no negative zero.
    return isNegative ? 0 - Number(digits) : Number(digits);
  }

  #readBoolean(): number {
    const text = this.#text;
    let to = this.#at;
    while (isAlphabetic(text.charCodeAt(to))) to++;
    // `false` is the longest boolean.
    const value = to - this.#at > 5 ? undefined : BOOLEANS.get(text.slice(this.#at, to));
    this.#at = to;
    return value ?? Number.NaN;
  }

  /** `at`: index of the `e`. Returns -1 if the exponent has no digit. */
  #endOfExponent(at: number): number {
    const text = this.#text;
    const sign = text.charCodeAt(at + 1);
    const from = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
    const to = this.#endOfDigits(from);
    return to === from ? -1 : to;
  }

  #readEnd(): string | null {
    const text = this.#text;
    const from = this.#at;
    this.#skipSpaces();
    if (this.#passNewline()) return null;
    if (this.#at === from) return RULES.value;
    const digitsFrom = text.charCodeAt(this.#at) === MINUS ? this.#at + 1 : this.#at;
    const to = this.#endOfDigits(digitsFrom);
    if (to === digitsFrom || to - digitsFrom > MAX_TIME_DIGITS) return RULES.time;
    this.time = text.slice(this.#at, to);
    this.#at = to;
    this.#skipSpaces();
    return this.#passNewline() ? null : RULES.time;
  }

  /** Returns whether the line ends here. */
  #passNewline(): boolean {
    const text = this.#text;
    if (this.#at >= text.length) return true;
    if (text.charCodeAt(this.#at) === RETURN && text.charCodeAt(this.#at + 1) === NEWLINE) this.#at++;
    if (text.charCodeAt(this.#at) !== NEWLINE) return false;
    this.#at++;
    this.#lineAt++;
    return true;
  }

  #skipSpaces() {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  #endOfDigits(at: number) {
    let end = at;
    for (let char = this.#text.charCodeAt(end); char >= ZERO && char <= NINE; ) {
      char = this.#text.charCodeAt(++end);
    }
    return end;
  }

  /** The character after a backslash belongs to the name. */
  #endOfName(from: number) {
    const text = this.#text;
    let at = from;
    for (; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (char === COMMA || isBreak(char)) break;
      if (char === BACKSLASH && !this.#escapes(++at)) return at - 1;
    }
    return Math.min(at, text.length);
  }

  /** The character after a backslash belongs to the key. */
  #endOfKey(from: number) {
    const text = this.#text;
    let at = from;
    for (; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (char === COMMA || char === EQUALS || isBreak(char)) break;
      if (char === BACKSLASH && !this.#escapes(++at)) return from;
    }
    return Math.min(at, text.length);
  }

  /** The first of two backslashes stands for itself. Returns `from` if the text is not valid. */
  #endOfTag(from: number): number {
    const text = this.#text;
    let at = from;
    for (; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (char === COMMA || char === EQUALS || isBreak(char)) break;
      if (char !== BACKSLASH || text.charCodeAt(at + 1) === BACKSLASH) continue;
      if (!this.#escapes(++at)) return from;
    }
    return Math.min(at, text.length);
  }

  /** A backslash may stand before this character. */
  #escapes(at: number): boolean {
    const char = this.#text.charCodeAt(at);
    return at < this.#text.length && (char === SPACE || !isBreak(char));
  }
}

const BOOLEANS: Map<string, number> = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map((word) => [word, 1] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map((word) => [word, 0] as const),
]);

const isSpace = (char: number) => char === SPACE || char === TAB || (char > NEWLINE && char <= FORM_FEED);

const isBreak = (char: number) => char === SPACE || (char >= TAB && char <= RETURN);

const isAlphabetic = (char: number) => (char | 0x20) >= 0x61 && (char | 0x20) <= 0x7a;

const unescaped = (text: string) => (text.includes('\\') ? text.replaceAll(/\\([,= "])/g, '$1') : text);

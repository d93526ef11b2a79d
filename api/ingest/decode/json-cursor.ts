const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const COLON = 0x3a;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
const LAST_PLAIN = 0x7e;

/** Every integer with up to 15 digits is exact as a double. */
const EXACT_DIGITS = 15;

/** All of them are exact as doubles. */
const POWERS = Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** A power of two, because the hash is masked. */
const SLOTS = 1024;

/** Longer strings are not cached. */
const MAX_LENGTH = 64;

/**
 * Messages repeat the names of sensors. Creating a string from bytes is a call into the engine, and every map hashes
 * and compares each new string again. A name replaces a cached name with the same hash.
 */
export class NameCache {
  #names: string[] = Array.from({ length: SLOTS }, () => '');

  /** The bytes are ASCII. */
  read(bytes: Buffer, from: number, to: number): string {
    if (to - from > MAX_LENGTH) return bytes.toString('latin1', from, to);
    let hash = 0;
    for (let at = from; at < to; at++) hash = (31 * hash + (bytes[at] as number)) | 0;
    const slot = hash & (SLOTS - 1);
    const known = this.#names[slot] as string;
    if (isSame(known, bytes, from, to)) return known;
    const name = bytes.toString('latin1', from, to);
    this.#names[slot] = name;
    return name;
  }
}

function isSame(text: string, bytes: Buffer, from: number, to: number) {
  if (text.length !== to - from) return false;
  for (let index = 0; index < text.length; index++)
    if (text.charCodeAt(index) !== bytes[from + index]) return false;
  return true;
}

/**
 * Reads JSON (RFC 8259) from bytes, one token after the other. It creates only numbers and plain strings. It declines
 * all other input, and then the caller parses the whole payload with `JSON.parse`.
 */
export class JsonCursor {
  declare bytes: Buffer;
  declare names: NameCache | null;
  declare at: number;

  constructor(bytes: Buffer, names: NameCache | null = null) {
    this.bytes = bytes;
    this.names = names;
    this.at = 0;
  }

  /** Skips only the white space. NaN at the end. */
  peek(): number {
    const { bytes } = this;
    let byte = bytes[this.at] as number;
    while (byte <= SPACE && (byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09)) {
      byte = bytes[++this.at] as number;
    }
    return byte === undefined ? Number.NaN : byte;
  }

  pass(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.at++;
    return true;
  }

  /**
   * Returns the index after the opening quote; the text ends one byte before `at`. -1: no string, or one with escapes or
   * bytes outside printable ASCII.
   */
  passText(): number {
    if (!this.pass(QUOTE)) return -1;
    const { bytes } = this;
    const from = this.at;
    let at = from;
    for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[++at]) {
      // Not a plain string: escapes, control characters, or bytes outside ASCII. `byte` is undefined at the end of the input.
      if (byte === undefined || byte < SPACE || byte > LAST_PLAIN || byte === BACKSLASH) return -1;
    }
    this.at = at + 1;
    return from;
  }

  /** Reads a name of one or two bytes, and the colon, as a big-endian number. -1: no such name. */
  label(): number {
    if (this.peek() !== QUOTE) return -1;
    const { bytes } = this;
    let at = this.at + 1;
    let label = bytes[at++] as number;
    if (bytes[at] !== QUOTE) label = (label << 8) | (bytes[at++] as number);
    if (bytes[at] !== QUOTE) return -1;
    this.at = at + 1;
    return this.pass(COLON) ? label : -1;
  }

  /** Returns null for no string, or one that `passText` declines. */
  text(): string | null {
    const from = this.passText();
    if (from < 0) return null;
    const { bytes, names } = this;
    return names ? names.read(bytes, from, this.at - 1) : bytes.toString('latin1', from, this.at - 1);
  }

  /**
   * Reads a number as the nearest double, like JSON.parse. With up to 15 digits and no exponent it is the quotient of two
   * integers that are exact as doubles, so the division rounds correctly (Clinger, "How to Read Floating Point Numbers
   * Accurately", 1990). The engine parses all other numbers. NaN: no number.
   */
  number(): number {
    const first = this.peek();
    const { bytes } = this;
    const from = this.at;
    let at = first === MINUS ? from + 1 : from;
    const digitsFrom = at;
    let whole = 0;
    let byte = bytes[at] as number;
    for (; byte >= ZERO && byte <= NINE; byte = bytes[++at] as number) {
      whole = whole * 10 + (byte - ZERO);
    }
    let digits = at - digitsFrom;
    // From the index of the `e` to the index behind the exponent. Returns -1 if it has no digits.
    if (digits === 0 || (digits > 1 && bytes[digitsFrom] === ZERO)) return Number.NaN;
    let decimals = 0;
    if (byte === DOT) {
      const fractionFrom = ++at;
      byte = bytes[at] as number;
      for (; byte >= ZERO && byte <= NINE; byte = bytes[++at] as number) {
        whole = whole * 10 + (byte - ZERO);
      }
      decimals = at - fractionFrom;
      if (decimals === 0) return Number.NaN;
      digits += decimals;
    }
    if (byte === LOWER_E || byte === UPPER_E) return this.#longNumber(from, this.#afterExponent(at));
    if (digits > EXACT_DIGITS) return this.#longNumber(from, at);
    this.at = at;
    const magnitude = decimals === 0 ? whole : whole / (POWERS[decimals] as number);
    return first === MINUS ? -magnitude : magnitude;
  }

  /** Both indexes are those of the `e` and behind the exponent. Returns -1 if it has no digits. */
  #afterExponent(at: number): number {
    const { bytes } = this;
    let next = at + 1;
    if (bytes[next] === PLUS || bytes[next] === MINUS) next++;
    const from = next;
    while ((bytes[next] as number) >= ZERO && (bytes[next] as number) <= NINE) next++;
    return next === from ? -1 : next;
  }

  #longNumber(from: number, to: number) {
    if (to < 0) return Number.NaN;
    this.at = to;
    return Number(this.bytes.toString('latin1', from, to));
  }
}

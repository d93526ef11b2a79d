import { hexOf } from './text.js';

/**
 * CBOR (RFC 8949) as text for people: the notation of JSON, with byte strings as `h'…'`. The integer labels of SenML
 * (RFC 8428, table 4) are written as its names.
 */

/** @type {Record<string, string>} */
const SENML_LABELS = {
  '-1': 'bver',
  '-2': 'bn',
  '-3': 'bt',
  '-4': 'bu',
  '-5': 'bv',
  '-6': 'bs',
  0: 'n',
  1: 'u',
  2: 'v',
  3: 'vs',
  4: 'vb',
  5: 's',
  6: 't',
  7: 'ut',
  8: 'vd',
};

/** @type {Record<number, string>} */
const SIMPLE = { 20: 'false', 21: 'true', 22: 'null', 23: 'undefined' };

/** Deeper nesting is refused. */
const DEEPEST = 64;

/**
 * @param {Uint8Array} bytes
 * @returns {string[]} the elements of a top-level array, or the one value that it is
 * @throws {Error} where it is no CBOR, or something follows it
 */
export function readCbor(bytes) {
  const reader = createBytesReader(bytes);
  const text = createTextReader(reader);
  const isArray = (bytes[0] ?? 0) >> 5 === 4;
  const elements = isArray ? text.items(reader.head().argument, 0) : [text.value(0)];
  if (!reader.atEnd()) throw new Error('something follows the value');
  return elements;
}

/** @param {ReturnType<typeof createBytesReader>} bytes */
function createTextReader({ head, repeat, string, float }) {
  /** @param {number} depth @returns {string} */
  function value(depth) {
    if (depth > DEEPEST) throw new Error('nested too deep');
    const { major, info, argument } = head();
    switch (major) {
      case 0:
        return String(argument);
      case 1:
        return String(-1n - BigInt(argument ?? 0));
      case 2:
        return `h'${hexOf(string(major, argument))}'`;
      case 3:
        return JSON.stringify(new TextDecoder().decode(string(major, argument)));
      case 4:
        return `[${items(argument, depth).join(', ')}]`;
      case 5: {
        /** @type {string[]} */
        const members = [];
        repeat(argument, () => members.push(`${label(value(depth + 1))}: ${value(depth + 1)}`));
        return `{${members.join(', ')}}`;
      }
      case 6:
        return `${argument}(${value(depth + 1)})`;
      default:
        return String(float(info, argument) ?? SIMPLE[Number(argument)] ?? `simple(${argument})`);
    }
  }

  /** @param {number | bigint | null} count @param {number} depth of the array @returns {string[]} */
  function items(count, depth) {
    /** @type {string[]} */
    const read = [];
    repeat(count, () => read.push(value(depth + 1)));
    return read;
  }

  return { value, items };
}

/** @param {string} key @returns {string} */
const label = (key) => (Object.hasOwn(SENML_LABELS, key) ? `"${SENML_LABELS[key]}"` : key);

const BREAK = 0xff;

/**
 * The parts of CBOR (RFC 8949) that bytes consist of, one after the other: heads, and the strings that follow some of them.
 *
 * @param {Uint8Array} bytes
 */
function createBytesReader(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;

  /** @param {number} length @returns {Uint8Array} */
  function take(length) {
    if (at + length > bytes.length) throw new Error('the bytes end too early');
    at += length;
    return bytes.subarray(at - length, at);
  }

  /** @param {number} size of an argument, in bytes @returns {number | bigint} */
  function unsigned(size) {
    take(size);
    if (size === 1) return view.getUint8(at - 1);
    if (size === 2) return view.getUint16(at - 2);
    return size === 4 ? view.getUint32(at - 4) : view.getBigUint64(at - 8);
  }

  /** @returns {{ major: number, info: number, argument: number | bigint | null }} `argument` is null for an indefinite length */
  function head() {
    const first = take(1)[0] ?? 0;
    const [major, info] = [first >> 5, first & 31];
    if (info < 24) return { major, info, argument: info };
    if (info < 28) return { major, info, argument: unsigned(2 ** (info - 24)) };
    if (info === 31 && major >= 2 && major <= 5) return { major, info, argument: null };
    throw new Error('a length that is reserved');
  }

  /** @param {number | bigint | null} count @param {() => void} read one more */
  function repeat(count, read) {
    if (count !== null) {
      for (let left = Number(count); left > 0; left--) read();
      return;
    }
    while (bytes[at] !== BREAK) read();
    at++;
  }

  /** @param {number} major @param {number | bigint | null} length @returns {Uint8Array} */
  function string(major, length) {
    if (length !== null) return take(Number(length));
    /** @type {number[]} */
    const all = [];
    repeat(null, () => {
      const part = head();
      if (part.major !== major || part.argument === null) throw new Error('a part of another kind');
      all.push(...take(Number(part.argument)));
    });
    return Uint8Array.from(all);
  }

  /** @param {number} info of the head just read @param {number | bigint | null} argument @returns {number | null} null: it is no floating-point number */
  function float(info, argument) {
    if (info === 25) return halfFloat(Number(argument));
    if (info === 26) return view.getFloat32(at - 4);
    return info === 27 ? view.getFloat64(at - 8) : null;
  }

  return { head, repeat, string, float, atEnd: () => at === bytes.length };
}

/** @param {number} bits IEEE 754 binary16 @returns {number} */
function halfFloat(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

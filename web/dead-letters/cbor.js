import { createBytesReader } from './cbor-bytes.js';
import { hexOf } from './dump.js';

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

/** Of a value that is nested deeper, nobody can make sense. */
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

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

/** Of a value that is nested deeper, nobody can make sense. */
const DEEPEST = 64;
const BREAK = 0xff;

/**
 * @param {Uint8Array} bytes
 * @returns {string[]} the elements of a top-level array, or the one value that it is
 * @throws {Error} where it is no CBOR, or something follows it
 */
export function readCbor(bytes) {
  const reader = createReader(bytes);
  const isArray = (bytes[0] ?? 0) >> 5 === 4;
  const elements = isArray ? reader.items() : [reader.value(0)];
  if (!reader.atEnd()) throw new Error('something follows the value');
  return elements;
}

/** @param {Uint8Array} bytes */
function createReader(bytes) {
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
        return `h'${[...string(major, argument)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}'`;
      case 3:
        return JSON.stringify(new TextDecoder().decode(string(major, argument)));
      case 4: {
        /** @type {string[]} */
        const items = [];
        repeat(argument, () => items.push(value(depth + 1)));
        return `[${items.join(', ')}]`;
      }
      case 5: {
        /** @type {string[]} */
        const members = [];
        repeat(argument, () => members.push(`${label(value(depth + 1))}: ${value(depth + 1)}`));
        return `{${members.join(', ')}}`;
      }
      case 6:
        return `${argument}(${value(depth + 1)})`;
      default:
        return simple(info, argument);
    }
  }

  /** @param {number} info @param {number | bigint | null} argument @returns {string} */
  function simple(info, argument) {
    if (info === 25) return String(halfFloat(Number(argument)));
    if (info === 26) return String(view.getFloat32(at - 4));
    if (info === 27) return String(view.getFloat64(at - 8));
    return (
      { 20: 'false', 21: 'true', 22: 'null', 23: 'undefined' }[Number(argument)] ?? `simple(${argument})`
    );
  }

  return {
    value,
    atEnd: () => at === bytes.length,
    /** @returns {string[]} of the array that begins here */
    items() {
      /** @type {string[]} */
      const items = [];
      repeat(head().argument, () => items.push(value(1)));
      return items;
    },
  };
}

/** @param {string} key @returns {string} */
const label = (key) => (Object.hasOwn(SENML_LABELS, key) ? `"${SENML_LABELS[key]}"` : key);

/** @param {number} bits IEEE 754 binary16 @returns {number} */
function halfFloat(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

const BREAK = 0xff;

/**
 * The parts of CBOR (RFC 8949) that bytes consist of, one after the other: heads, and the strings that follow some of them.
 *
 * @param {Uint8Array} bytes
 */
export function createBytesReader(bytes) {
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

import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { varint } from './bytes.js';

/** @import { Reader } from './bytes.js' */

/**
 * One byte of each number of a column, all of the same rank: the lowest byte of all, the next one of all, and so on. This separates
 * noise from repetition, and each plane gets the codes that suit it.
 *
 * @typedef {{ bytes: Uint8Array, estimate: number }} Plane `estimate`: bytes that it will take, about
 */

/** From this entropy on, in bits a byte, deflate saves nothing. It also takes longest for noise. */
const NOISE = 7.9;

/**
 * Strategies of deflate. The shorter result is used. Noise is smallest with runs alone (a tenth less for small differences, in a third
 * of the time). Repetition needs matches, and the filtered strategy makes none that are too short.
 */
const STRATEGIES = [constants.Z_RLE, constants.Z_FILTERED];

/** Bytes that the table of a deflated plane takes for each byte that occurs. */
const TABLE_BYTES = 0.5;

/**
 * @param {Int32Array} words halves of 64-bit numbers
 * @param {number} shift bits to the right of the wanted byte
 * @returns {Plane}
 */
export function planeOf(words, shift) {
  const bytes = new Uint8Array(words.length);
  const counts = new Uint32Array(256);
  for (let i = 0; i < words.length; i++) {
    const word = /** @type {number} */ (words[i]);
    const byte = (word >>> shift) & 0xff;
    bytes[i] = byte;
    counts[byte] = /** @type {number} */ (counts[byte]) + 1;
  }
  return { bytes, estimate: estimateOf(counts, words.length) };
}

/** Bytes by Shannon's entropy. @param {Uint32Array} counts @param {number} total */
function estimateOf(counts, total) {
  let [bits, distinct] = [0, 0];
  for (const count of counts) {
    if (count === 0) continue;
    distinct += 1;
    bits -= count * Math.log2(count / total);
  }
  if (distinct === 1) return 2;
  return Math.min(total, bits / 8 + TABLE_BYTES * distinct);
}

/** @param {Plane} plane @returns {Uint8Array[]} a length, and so many bytes; 0 and one byte that stands for all; or all as they are */
export function packPlane({ bytes, estimate }) {
  const [first] = bytes;
  if (bytes.every((byte) => byte === first)) return [Buffer.from([0, Number(first)])];
  if (estimate * 8 < bytes.length * NOISE) {
    const deflated = deflate(bytes);
    if (deflated.length < bytes.length) return [varint(deflated.length), deflated];
  }
  return [varint(bytes.length), bytes];
}

/** @param {Uint8Array} bytes */
const deflate = (bytes) =>
  STRATEGIES.map((strategy) => deflateRawSync(bytes, { strategy })).reduce((best, tried) =>
    tried.length < best.length ? tried : best,
  );

/**
 * @param {Reader} reader
 * @param {number} count of bytes in the plane
 * @returns {Uint8Array}
 * @throws {RangeError}
 */
export function unpackPlane(reader, count) {
  const length = reader.count(count);
  if (length === 0) return new Uint8Array(count).fill(reader.byte());
  const packed = reader.bytes(length);
  return length === count ? packed : inflate(packed, count);
}

/** @param {Uint8Array} deflated @param {number} count @returns {Uint8Array} */
function inflate(deflated, count) {
  let bytes;
  try {
    // The result never has more bytes than requested, even if the blob claims more.
    bytes = inflateRawSync(deflated, { maxOutputLength: count });
  } catch (error) {
    throw new RangeError('packed samples cannot be inflated', { cause: error });
  }
  if (bytes.length !== count)
    throw new RangeError(`${bytes.length} bytes were deflated; ${count} are needed`);
  return bytes;
}

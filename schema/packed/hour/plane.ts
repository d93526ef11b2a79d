import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Reader, varint } from './bytes.ts';

/** All bytes of the same position. Noise in low bytes and repetition in high bytes get their own compression. `estimate`: in bytes */
export type Plane = { bytes: Uint8Array; estimate: number };

/** Entropy in bits per byte from which a plane is not deflated: deflate would save nothing, and it takes longest for noise. */
const NOISE = 7.9;

/**
 * Each plane is deflated with both, and the shorter result is used. Z_RLE is best for noise: small differences take a tenth less space, in
 * a third of the time. Repetition needs string matches, and Z_FILTERED avoids matches that are too short.
 */
const STRATEGIES = [constants.Z_RLE, constants.Z_FILTERED];

/** The Huffman table of a deflated plane takes so many bytes per distinct byte value. */
const TABLE_BYTES = 0.5;

/** @param words upper or lower halves of 64-bit numbers @param shift bits to the right of the wanted byte */
export function planeOf(words: Int32Array, shift: number): Plane {
  const bytes = new Uint8Array(words.length);
  const counts = new Uint32Array(256);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as number;
    const byte = (word >>> shift) & 0xff;
    bytes[i] = byte;
    counts[byte] = (counts[byte] as number) + 1;
  }
  return { bytes, estimate: estimateOf(counts, words.length) };
}

/** Shannon's entropy, in bytes. */
function estimateOf(counts: Uint32Array, total: number) {
  let [bits, distinct] = [0, 0];
  for (const count of counts) {
    if (count === 0) continue;
    distinct += 1;
    bits -= count * Math.log2(count / total);
  }
  if (distinct === 1) return 2;
  return Math.min(total, bits / 8 + TABLE_BYTES * distinct);
}

/** 0 and one byte, if all bytes are equal; otherwise a length, followed by the deflated or the plain bytes. */
export function packPlane({ bytes, estimate }: Plane): Uint8Array[] {
  const [first] = bytes;
  if (bytes.every((byte) => byte === first)) return [Buffer.from([0, Number(first)])];
  if (estimate * 8 < bytes.length * NOISE) {
    const deflated = deflate(bytes);
    if (deflated.length < bytes.length) return [varint(deflated.length), deflated];
  }
  return [varint(bytes.length), bytes];
}

const deflate = (bytes: Uint8Array) =>
  STRATEGIES.map((strategy) => deflateRawSync(bytes, { strategy })).reduce((best, tried) =>
    tried.length < best.length ? tried : best,
  );

export function unpackPlane(reader: Reader, count: number): Uint8Array {
  const length = reader.count(count);
  if (length === 0) return new Uint8Array(count).fill(reader.byte());
  const packed = reader.bytes(length);
  return length === count ? packed : inflate(packed, count);
}

function inflate(deflated: Uint8Array, count: number): Uint8Array {
  let bytes: Uint8Array;
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

import { hash } from 'node:crypto';
import { HOUR_MS } from '../rules.ts';
import type { Numbers } from './series.ts';

/** docs/reference/packed-form.md has the bytes of all versions, with test vectors. */
export const ARRAYS_VERSION = 1;
const TIME_BYTES = 4;
export const SAMPLE_BYTES = TIME_BYTES + 8;
const DIGEST_BYTES = 8;

/**
 * @param times epoch ms, strictly ascending, all within the hour
 * @throws {RangeError} when there is no sample, or a sample is not of this hour
 */
export function packSamples(
  bucket: number,
  times: Numbers,
  values: Numbers,
  from: number,
  to: number,
): Buffer {
  checkHour(bucket, times, from, to);
  const blob = Buffer.allocUnsafe(1 + SAMPLE_BYTES * (to - from));
  // Measured on Node 20 with 60 samples: DataView 0.5 µs, Buffer.writeDoubleLE 2.4 µs, typed arrays over a new ArrayBuffer 0.9 µs.
  // Typed arrays that are reused and copied take 0.4 µs, but need state between calls.
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length);
  view.setUint8(0, ARRAYS_VERSION);
  let at = 1;
  for (let i = from; i < to; i++, at += TIME_BYTES) {
    view.setUint32(at, (times[i] as number) - bucket, true);
  }
  for (let i = from; i < to; i++, at += 8) view.setFloat64(at, values[i] as number, true);
  return blob;
}

/** Rows with the same sensor and the same first instant stay separate if their samples differ. Equal samples become one row. */
export function digestOf(blob: Buffer): Buffer {
  const digest = Buffer.allocUnsafe(DIGEST_BYTES);
  // The digest is a string with one character per byte. A separate Buffer per row would be memory outside the heap, which V8 must count
  // and free. With garbage collection, a hex string takes 0.6 µs for one sample and 1.1 µs for 60 samples, a Buffer 1.4 and 1.6 µs.
  // createHash takes 0.5 µs more.
  digest.write(hash('sha256', blob, 'binary'), 0, DIGEST_BYTES, 'latin1');
  return digest;
}

/** Longer copies use `set`, a call into the engine that is slower for short copies. */
const MAX_IN_LOOP = 16;

export function writeBytes(target: Uint8Array, at: number, bytes: Uint8Array): number {
  const { length } = bytes;
  if (length > MAX_IN_LOOP) {
    target.set(bytes, at);
    return at + length;
  }
  for (let index = 0; index < length; index++) {
    target[at + index] = bytes[index] as number;
  }
  return at + length;
}

/** @returns `offsets`: ms since the hour began, unchecked @throws {RangeError} when the length does not fit */
export function unpackArrays(rest: Uint8Array): { offsets: Float64Array; values: Float64Array } {
  const count = rest.length / SAMPLE_BYTES;
  if (count < 1 || !Number.isInteger(count)) {
    throw new RangeError(
      `packed samples of ${1 + rest.length} bytes: 1 and a multiple of ${SAMPLE_BYTES} are needed`,
    );
  }
  const view = new DataView(rest.buffer, rest.byteOffset, rest.length);
  const offsets = new Float64Array(count);
  const values = new Float64Array(count);
  const firstValue = TIME_BYTES * count;
  for (let i = 0; i < count; i++) {
    offsets[i] = view.getUint32(TIME_BYTES * i, true);
    values[i] = view.getFloat64(firstValue + 8 * i, true);
  }
  return { offsets, values };
}

/** @param times strictly ascending @throws {RangeError} when there is no sample, or a sample is not of this hour */
export function checkHour(bucket: number, times: Numbers, from: number, to: number) {
  // The times are sorted, so it is enough to check the first and the last time.
  if (!(from < to && inHour(bucket, times[from]) && inHour(bucket, times[to - 1]))) {
    throw new RangeError(`samples ${from} to ${to} are not samples of the hour of ${bucket}`);
  }
}

const inHour = (bucket: number, time: number | undefined) =>
  time !== undefined && time >= bucket && time < bucket + HOUR_MS;

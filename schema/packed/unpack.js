import { HOUR_MS } from '../rules.js';
import { HOUR_VERSION } from './hour/pack-hour.js';
import { unpackHour } from './hour/unpack-hour.js';
import { ARRAYS_VERSION, unpackArrays } from './pack.js';

/**
 * The samples of a row of `history`: one sensor, in version 1 or 2.
 *
 * @param {number} bucket epoch ms of the start of the hour
 * @param {Uint8Array} blob
 * @returns {{ times: Float64Array, values: Float64Array }} times in epoch ms, strictly ascending
 * @throws {RangeError} when these are no packed samples of one hour; never takes more memory than the longest hour needs
 */
export function unpackSamples(bucket, blob) {
  if (blob.length === 0) throw new RangeError('packed samples are empty: not even a version byte is there');
  const { offsets, values } = readerOf(Number(blob[0]))(blob.subarray(1));
  if (offsets.length === 0) throw new RangeError('there are no packed samples in it');
  return { times: timesOf(bucket, offsets), values };
}

/** @param {number} version */
function readerOf(version) {
  if (version === ARRAYS_VERSION) return unpackArrays;
  if (version === HOUR_VERSION) return unpackHour;
  throw new RangeError(
    `packed samples are of version ${version}; this process knows versions ${ARRAYS_VERSION} and ${HOUR_VERSION}`,
  );
}

/** @param {number} bucket @param {Float64Array} offsets ms since the hour began; become epoch ms in place */
function timesOf(bucket, offsets) {
  let previous = -1;
  for (let i = 0; i < offsets.length; i++) {
    const offset = /** @type {number} */ (offsets[i]);
    if (offset <= previous) throw new RangeError(`packed sample ${i} is not after the one before it`);
    offsets[i] = bucket + offset;
    previous = offset;
  }
  if (previous >= HOUR_MS)
    throw new RangeError(`the last packed sample is ${previous} ms after its hour began`);
  return offsets;
}

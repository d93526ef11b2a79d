import { MAX_SAMPLES_PER_HISTORY_ROW } from '../../rules.js';
import { checkHour, packSamples, SAMPLE_BYTES } from '../pack.js';
import { varint } from './bytes.js';
import { packValues } from './forms.js';
import { packTimes } from './times.js';

/** @import { Numbers } from '../series.js' */

/**
 * Version 2 of packed samples, for history: an hour of one sensor, compressed; docs/reference/packed-form.md has it byte by byte.
 *
 *     +---------+---------+-----------+--------+--------+
 *     | version | form of | number of | times  | values |
 *     | 1 byte  | values  | samples   |        |        |
 *     +---------+---------+-----------+--------+--------+
 */
export const HOUR_VERSION = 2;

/**
 * Packs an hour of one sensor without loss in as few bytes as possible. A few samples that are smaller in version 1 stay in version 1.
 * Synchronous: an hour at 1 Hz takes a millisecond, the longest 25.
 *
 * @param {number} bucket epoch ms of the start of the hour
 * @param {Numbers} times epoch ms, strictly ascending, all within the hour
 * @param {Numbers} values
 * @param {number} from index of the first sample to pack
 * @param {number} to index after the last one, at most MAX_SAMPLES_PER_HISTORY_ROW further
 * @returns {Buffer}
 * @throws {RangeError} when there is no sample, one is not of this hour, or there are too many
 */
export function packHour(bucket, times, values, from, to) {
  const count = to - from;
  if (count > MAX_SAMPLES_PER_HISTORY_ROW) {
    throw new RangeError(`${count} samples; ${MAX_SAMPLES_PER_HISTORY_ROW} are the most in one row`);
  }
  checkHour(bucket, times, from, to);
  const { form, parts } = packValues(Float64Array.from(values.slice(from, to)));
  const offsets = new Float64Array(count);
  for (let i = 0; i < count; i++) offsets[i] = /** @type {number} */ (times[from + i]) - bucket;
  const packed = Buffer.concat([
    Buffer.from([HOUR_VERSION, form]),
    varint(count),
    ...packTimes(offsets),
    ...parts,
  ]);
  return packed.length > SAMPLE_BYTES * count ? packSamples(bucket, times, values, from, to) : packed;
}

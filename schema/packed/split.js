import { bucketOf, HOUR_MS, MAX_SAMPLES_PER_ROW } from '../rules.js';

/** @typedef {import('./series.js').Numbers} Numbers */

/**
 * The samples that become one row: indexes `from` up to and without `to`, all of the hour that begins at `bucket`.
 *
 * @typedef {{ bucket: number, from: number, to: number }} Piece
 */

/**
 * Cuts a sorted series into rows: at the hours, and within an hour after every MAX_SAMPLES_PER_ROW samples, counted
 * from the first one of that hour in the message. The cuts depend on the samples alone, so that a redelivered
 * message gives the very same rows.
 *
 * @param {Numbers} times epoch ms, strictly ascending
 * @returns {Piece[]} in order of time; together they cover the series
 */
export function splitRows(times) {
  /** @type {Piece[]} */
  const pieces = [];
  let from = 0;
  while (from < times.length) {
    const bucket = bucketOf(/** @type {number} */ (times[from]));
    const most = Math.min(times.length, from + MAX_SAMPLES_PER_ROW);
    const to = firstAtOrAfter(times, bucket + HOUR_MS, from + 1, most);
    pieces.push({ bucket, from, to });
    from = to;
  }
  return pieces;
}

/**
 * @param {Numbers} times
 * @param {number} end epoch ms
 * @param {number} low index to begin at
 * @param {number} high index to stop at
 */
function firstAtOrAfter(times, end, low, high) {
  // Nearly always the whole message is of one hour.
  if (/** @type {number} */ (times[high - 1]) < end) return high;
  let index = low;
  while (/** @type {number} */ (times[index]) < end) index++;
  return index;
}

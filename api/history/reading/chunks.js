import { bucketOf, DAY_MS, HOUR_MS } from '../../../schema/rules.js';

/** How far the first look goes, in ms; a busy sensor fills a page with it. */
const FIRST_MS = 4 * DAY_MS;

/** Each look goes so many times farther than the one before, up to a year: so a year of silence is a few reads. */
const GROWTH = 4;
export const LONGEST_MS = 366 * DAY_MS;

/** @typedef {{ from: number, to: number }} Range epoch ms, half-open */
/** @typedef {'asc' | 'desc'} Order by time */

/**
 * The hours of a range that may have samples, a stretch of them after the other.
 *
 * @param {import('./hours.js').LookUp} lookUp
 * @param {import('./hours.js').Sensor} sensor
 * @param {Range} range
 * @param {Order} order
 * @param {number} [length] of the first stretch, in ms
 * @returns {AsyncGenerator<import('./hours.js').Hour[], void>} each in the order asked for
 */
export async function* chunksOf(lookUp, sensor, range, order, length = FIRST_MS) {
  if (range.from >= range.to) return;
  let from = bucketOf(range.from);
  let to = bucketOf(range.to - 1) + HOUR_MS;
  for (let stretch = length; from < to; stretch = Math.min(stretch * GROWTH, LONGEST_MS)) {
    // Statistics are read as they are stored, oldest first: ScyllaDB does not like the other way.
    if (order === 'asc') {
      const end = Math.min(from + stretch, to);
      yield await lookUp(sensor, from, end);
      from = end;
    } else {
      const start = Math.max(to - stretch, from);
      yield (await lookUp(sensor, start, to)).reverse();
      to = start;
    }
  }
}

import { HOUR_MS } from '../../../schema/rules.js';
import { chunksOf } from './hours.js';
import { readHours } from './samples.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Hour, LookUp, Order, Range, Sensor } from './hours.js' */
/** @import { SampleSource } from './samples.js' */

/**
 * Limit of hours that one page reads. At the limit the page ends, so a page of mostly empty hours may have few samples.
 */
const MOST_HOURS_A_PAGE = 32 * 24;

/**
 * Limit of hours that are read concurrently: enough to hide the round trips, and few enough to leave capacity of the
 * database for other requests.
 */
const HOURS_AT_ONCE = 32;

/**
 * A page of raw samples.
 *
 * @typedef {object} SamplePage
 * @property {number[]} times epoch ms, in the requested order
 * @property {number[]} values
 * @property {number | null} reached position of the next page, in epoch ms. In ascending order the next page begins at this
 *   instant, in descending order it has only samples before this instant; null at the end of the range
 */

/**
 * Reads samples in [from, to), hour by hour. All rows of an hour are merged before its samples are returned. So rows that
 * overlap never repeat or drop a sample between pages. The position between pages is an instant, because an instant
 * stays valid when an hour is packed between two pages.
 *
 * @param {object} deps
 * @param {LookUp} deps.lookUp
 * @param {SampleSource} deps.source
 * @param {Sensor} sensor
 * @param {Range} range
 * @param {{ order: Order, limit: number }} page
 * @returns {Promise<SamplePage>}
 */
export async function readPage({ lookUp, source }, sensor, range, { order, limit }) {
  /** @type {SamplePage} */
  const page = { times: [], values: [], reached: null };
  let left = MOST_HOURS_A_PAGE;
  let atOnce = 1;
  for await (const hours of chunksOf(lookUp, sensor, range, order)) {
    for (let at = 0; at < hours.length; ) {
      const next = enough(hours, at, limit - page.times.length, atOnce);
      const read = await readHours(source, sensor, next, range.from);
      for (const series of read) {
        if (fill(page, series, range, order, limit)) return page;
      }
      at += next.length;
      left -= next.length;
      // As long as the page is not full, each read may have twice as many hours with an unknown number of samples.
      atOnce = Math.min(2 * atOnce, HOURS_AT_ONCE);
      if (left <= 0) return { ...page, reached: placeAfter(/** @type {Hour} */ (next.at(-1)), order) };
    }
  }
  return page;
}

/** @param {Hour} hour the last hour that was read @param {Order} order @returns {number} epoch ms at which the next page begins */
const placeAfter = ({ hour }, order) => (order === 'asc' ? hour + HOUR_MS : hour);

/**
 * Chooses the hours to read next, so that they have the missing samples, as far as the numbers of samples are known.
 *
 * @param {Hour[]} hours
 * @param {number} at index of the next hour
 * @param {number} missing number of samples that the page needs
 * @param {number} uncounted limit of hours with an unknown number of samples
 * @returns {Hour[]}
 */
function enough(hours, at, missing, uncounted) {
  let [samples, unknown, end] = [0, 0, at];
  while (end < hours.length && end - at < HOURS_AT_ONCE && samples <= missing && unknown < uncounted) {
    const { count } = /** @type {Hour} */ (hours[end++]);
    if (count === null) unknown++;
    else samples += count;
  }
  return hours.slice(at, end);
}

/**
 * Adds an hour's samples to the page.
 *
 * @param {SamplePage} page is changed
 * @param {Series} series
 * @param {Range} range
 * @param {Order} order
 * @param {number} limit
 * @returns {boolean} whether the page is full and more samples follow
 */
function fill(page, { times, values }, { from, to }, order, limit) {
  const step = order === 'asc' ? 1 : -1;
  for (let at = order === 'asc' ? 0 : times.length - 1; at >= 0 && at < times.length; at += step) {
    const ts = /** @type {number} */ (times[at]);
    if (ts < from || ts >= to) continue;
    if (page.times.length === limit) {
      page.reached = order === 'asc' ? ts : ts + 1;
      return true;
    }
    page.times.push(ts);
    page.values.push(/** @type {number} */ (values[at]));
  }
  return false;
}

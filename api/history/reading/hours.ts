import { bucketOf, DAY_MS, HOUR_MS, isExact, yearOf } from '../../../schema/rules.js';

/** @import { HourStatistics } from '../../../schema/packed/statistics.js' */
/** @import { SensorBytes } from '../../store/history/keys.js' */
/** @import { HistoryReads, HourRow } from '../../store/history/reads.js' */

/** The key of a sensor. @typedef {SensorBytes & { group: number }} Sensor `group`: group of the sensor's device */

/**
 * An hour of a sensor that may have samples, and the tables in which the samples are.
 *
 * @typedef {object} Hour
 * @property {number} hour epoch ms
 * @property {boolean} packed true: history has all samples of the hour; false: samples of history and of the table
 *   `message` have to be merged
 * @property {HourStatistics | null} exact statistics of all samples of the hour; null: unknown
 * @property {number | null} count number of all or most samples of the hour; null: unknown
 */

/**
 * Finds the hours that may have samples.
 *
 * @callback LookUp
 * @param {Sensor} sensor
 * @param {number} from epoch ms, the start of an hour
 * @param {number} to epoch ms, the end of an hour
 * @returns {Promise<Hour[]>} hours in order of time
 */

/**
 * Creates a function that finds the hours with samples. Readers of history must read in this order: first the progress of
 * packing, then statistics, then samples, which the caller reads. Meanwhile hours may be packed or get late samples. In
 * this order each read sees the state of the previous read, or a newer state.
 *
 * @param {object} deps
 * @param {(group: number) => Promise<number>} deps.packedUntil epoch ms; the value may be outdated
 * @param {HistoryReads['readStatistics']} deps.readStatistics
 * @returns {LookUp}
 */
export const createLookUp =
  ({ packedUntil, readStatistics }) =>
  async (sensor, from, to) => {
    const until = await packedUntil(sensor.group);
    const years = await Promise.all(
      yearsOf(from, to).map((year) => readStatistics(sensor, year.from, year.to)),
    );
    return hoursOf(years, Math.max(from, until), to);
  };

/**
 * @param {HourRow[][]} years rows of each year, in order of time
 * @param {number} unpackedFrom epoch ms before which all hours are packed, so that an hour without a row has no samples
 * @param {number} to epoch ms
 * @returns {Hour[]} hours in order of time
 */
function hoursOf(years, unpackedFrom, to) {
  /** @type {Hour[]} */
  const hours = [];
  let next = unpackedFrom;
  // One loop without intermediate lists: a query of a month of 1,000 sensors has 744,000 rows.
  for (const rows of years) {
    for (const row of rows) {
      if (row.hour >= unpackedFrom) {
        for (const hour of unpackedHours(next, row.hour)) hours.push(hour);
        next = row.hour + HOUR_MS;
      }
      hours.push(known(row));
    }
  }
  for (const hour of unpackedHours(next, to)) hours.push(hour);
  return hours;
}

/**
 * Lists hours as not packed. That is safe also for packed hours: both tables are read then, and merged.
 *
 * @param {number} from epoch ms, the start of an hour
 * @param {number} to epoch ms
 * @returns {Generator<Hour, void>} hours in order of time
 */
export function* unpackedHours(from, to) {
  for (let hour = from; hour < to; hour += HOUR_MS) yield { hour, packed: false, exact: null, count: null };
}

/** @param {HourRow} row @returns {Hour} */
const known = (row) => ({
  hour: row.hour,
  packed: row.readFrom !== null,
  exact: isExact(row) ? row.statistics : null,
  count: row.statistics?.count ?? null,
});

/**
 * @param {number} from epoch ms
 * @param {number} to epoch ms
 * @returns {Array<{ from: number, to: number }>} the range, divided at the starts of UTC years
 */
function yearsOf(from, to) {
  const years = [];
  for (let at = from; at < to; ) {
    const end = Math.min(to, Date.UTC(yearOf(at) + 1, 0));
    years.push({ from: at, to: end });
    at = end;
  }
  return years;
}

/** Length of the first range whose hours are read, in ms. The samples of a busy sensor in this range fill a page. */
const FIRST_MS = 4 * DAY_MS;

/** Factor by which each further range is longer, up to `LONGEST_MS`. So a year without samples takes few reads. */
const GROWTH = 4;
export const LONGEST_MS = 366 * DAY_MS;

/** @typedef {{ from: number, to: number }} Range epoch ms, half-open */
/** @typedef {'asc' | 'desc'} Order by time */

/**
 * Finds the hours of a range that may have samples. It reads the range in parts that become longer and longer.
 *
 * @param {LookUp} lookUp
 * @param {Sensor} sensor
 * @param {Range} range
 * @param {Order} order
 * @param {number} [length] length of the first part, in ms
 * @returns {AsyncGenerator<Hour[], void>} hours of each part in the requested order
 */
export async function* chunksOf(lookUp, sensor, range, order, length = FIRST_MS) {
  if (range.from >= range.to) return;
  let from = bucketOf(range.from);
  let to = bucketOf(range.to - 1) + HOUR_MS;
  for (let stretch = length; from < to; stretch = Math.min(stretch * GROWTH, LONGEST_MS)) {
    // Statistics are read in the stored order, oldest first, because reversed queries are expensive for
    // ScyllaDB.
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

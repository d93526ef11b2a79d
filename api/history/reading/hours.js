import { bucketOf, DAY_MS, HOUR_MS, isExact, yearOf } from '../../../schema/rules.js';

/** @import { HourStatistics } from '../../../schema/packed/statistics.js' */
/** @import { SensorBytes } from '../../store/history/keys.js' */
/** @import { HistoryReads, HourRow } from '../../store/history/reads.js' */

/** @typedef {SensorBytes & { group: number }} Sensor `group`: that of its device */

/**
 * An hour of a sensor that may have samples, and where they are.
 *
 * @typedef {object} Hour
 * @property {number} hour epoch ms
 * @property {boolean} packed history has all of it; else what history has is merged with the batches
 * @property {HourStatistics | null} exact of all its samples, where that is known
 * @property {number | null} count of its samples, or of most of them; null: nobody has counted
 */

/** @callback LookUp @param {Sensor} sensor @param {number} from epoch ms, the start of an hour @param {number} to epoch ms, the end of one @returns {Promise<Hour[]>} in order of time */

/**
 * The rule for reading history. The order is: progress of packing, statistics, samples. The caller reads the samples. Hours may be packed
 * or get late samples meanwhile. In this order each step sees at least the state of the step before.
 *
 * @param {object} deps
 * @param {(group: number) => Promise<number>} deps.packedUntil epoch ms; it may be an older one
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
    return hoursOf(years.flat(), Math.max(from, until), to);
  };

/**
 * @param {HourRow[]} rows in order of time
 * @param {number} unpackedFrom epoch ms: before this hour, where there is no row there are no samples
 * @param {number} to epoch ms
 * @returns {Hour[]} in order of time
 */
function hoursOf(rows, unpackedFrom, to) {
  const hours = rows.filter(({ hour }) => hour < unpackedFrom).map(known);
  const later = new Map(rows.slice(hours.length).map((row) => [row.hour, row]));
  for (let hour = unpackedFrom; hour < to; hour += HOUR_MS) {
    const row = later.get(hour);
    hours.push(row ? known(row) : { hour, packed: false, exact: null, count: null });
  }
  return hours;
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
 * @returns {Array<{ from: number, to: number }>} the range, cut at the UTC years
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
 * @param {LookUp} lookUp
 * @param {Sensor} sensor
 * @param {Range} range
 * @param {Order} order
 * @param {number} [length] of the first stretch, in ms
 * @returns {AsyncGenerator<Hour[], void>} each in the order asked for
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

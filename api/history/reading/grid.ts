import { DateTime } from 'luxon';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.js';

/** @import { Range } from './hours.js' */

/**
 * The bins of a range, which are adjacent.
 *
 * @typedef {object} Grid
 * @property {number} length count of bins
 * @property {number} narrowest lower bound of the widths of all bins, in ms; of the wider bins, if bins of two widths alternate
 * @property {(ts: number) => number} indexOf returns the index of the bin that contains an instant of the range, in epoch ms
 * @property {(index: number) => number} startOf returns the start of a bin in epoch ms; it may be before the range
 */

/**
 * Creates a grid of bins of one width. Bins begin at whole multiples of the width.
 *
 * @param {Range} range
 * @param {number} width ms
 * @param {number} [shift] ms by which the clock of the multiples is ahead of UTC
 * @returns {Grid}
 */
export function uniformGrid(range, width, shift = 0) {
  const first = Math.floor((range.from + shift) / width);
  return {
    length: binsOf(range, width, shift),
    narrowest: width,
    indexOf: (ts) => Math.floor((ts + shift) / width) - first,
    startOf: (index) => (first + index) * width - shift,
  };
}

/** @param {Range} range @param {number} width ms @param {number} [shift] ms @returns {number} number of bins that the range touches */
export const binsOf = ({ from, to }, width, shift = 0) =>
  Math.ceil((to + shift) / width) - Math.floor((from + shift) / width);

/** Units of a calendar. A week begins on Monday (ISO 8601). @typedef {'day' | 'week' | 'month'} CalendarUnit */

/** Lower bounds of the lengths of calendar units, in ms: a day on which a clock skips two hours, and the shortest month. */
const SHORTEST_MS = {
  day: DAY_MS - 2 * HOUR_MS,
  week: 7 * DAY_MS - 2 * HOUR_MS,
  month: 28 * DAY_MS - 2 * HOUR_MS,
};

/**
 * @param {Range} range not empty
 * @param {CalendarUnit} unit
 * @returns {number} upper bound of the number of bins, without computing the calendar
 */
export const mostCalendarBins = ({ from, to }, unit) => Math.ceil((to - from) / SHORTEST_MS[unit]) + 1;

/**
 * Creates a grid of days, weeks or months in a time zone. Daylight saving makes some bins shorter or longer.
 *
 * @param {Range} range not empty
 * @param {CalendarUnit} unit
 * @param {string} zone a time zone of the IANA database
 * @returns {Grid}
 */
export function calendarGrid(range, unit, zone) {
  const first = DateTime.fromMillis(range.from, { zone }).startOf(unit);
  const edges = [first.toMillis()];
  // Each edge is computed from the first one: January 31 plus one month plus one month is not January 31 plus
  // two months.
  for (let count = 1; /** @type {number} */ (edges.at(-1)) < range.to; count++)
    edges.push(
      first
        .plus({ [unit]: count })
        .startOf(unit)
        .toMillis(),
    );
  return edgeGrid(edges, SHORTEST_MS[unit]);
}

/** Creates a grid that has the whole range as one bin. @param {Range} range @returns {Grid} */
export const wholeGrid = ({ from, to }) => edgeGrid([from, to], to - from);

/** The grid of an empty range. @type {Grid} */
export const NO_BINS = edgeGrid([0], HOUR_MS);

/**
 * @param {number[]} edges epoch ms, ascending: the starts of the bins, and the end of the last bin
 * @param {number} narrowest ms
 * @returns {Grid}
 */
function edgeGrid(edges, narrowest) {
  const length = edges.length - 1;
  const startOf = (/** @type {number} */ index) => /** @type {number} */ (edges[index]);
  let last = 0;
  return {
    length,
    narrowest,
    startOf,
    indexOf(ts) {
      // A shortcut: readers go through a range in order of time, so nearly always the bin of the previous call is right.
      if (ts >= startOf(last) && ts < startOf(last + 1)) return last;
      let [low, high] = [0, length];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (startOf(middle) <= ts) low = middle;
        else high = middle;
      }
      last = low;
      return low;
    },
  };
}

/** @param {string} zone @returns {boolean} whether the IANA database has the time zone */
export const isZone = (zone) => DateTime.utc().setZone(zone).isValid;

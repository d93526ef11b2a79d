import { DateTime } from 'luxon';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import type { Range } from './hours.ts';

/** The bins of a range, which are adjacent. */
export interface Grid {
  /** count of bins */
  length: number;
  /** lower bound of the widths of all bins, in ms; of the wider bins, if bins of two widths alternate */
  narrowest: number;
  /** returns the index of the bin that contains an instant of the range, in epoch ms */
  indexOf: (ts: number) => number;
  /** returns the start of a bin in epoch ms; it may be before the range */
  startOf: (index: number) => number;
}

/**
 * Creates a grid of bins of one width. Bins begin at whole multiples of the width.
 * @param width ms
 * @param shift ms by which the clock of the multiples is ahead of UTC
 */
export function uniformGrid(range: Range, width: number, shift: number = 0): Grid {
  const first = Math.floor((range.from + shift) / width);
  return {
    length: binsOf(range, width, shift),
    narrowest: width,
    indexOf: (ts) => Math.floor((ts + shift) / width) - first,
    startOf: (index) => (first + index) * width - shift,
  };
}

/** @param width ms @param shift ms @returns number of bins that the range touches */
export const binsOf = ({ from, to }: Range, width: number, shift: number = 0): number =>
  Math.ceil((to + shift) / width) - Math.floor((from + shift) / width);

/** Units of a calendar. A week begins on Monday (ISO 8601). */
export type CalendarUnit = 'day' | 'week' | 'month';

/** Lower bounds of the lengths of calendar units, in ms: a day on which a clock skips two hours, and the shortest month. */
const SHORTEST_MS = {
  day: DAY_MS - 2 * HOUR_MS,
  week: 7 * DAY_MS - 2 * HOUR_MS,
  month: 28 * DAY_MS - 2 * HOUR_MS,
};

/** @param range not empty @returns upper bound of the number of bins, without computing the calendar */
export const mostCalendarBins = ({ from, to }: Range, unit: CalendarUnit): number =>
  Math.ceil((to - from) / SHORTEST_MS[unit]) + 1;

/**
 * Creates a grid of days, weeks or months in a time zone. Daylight saving makes some bins shorter or longer.
 * @param range not empty
 * @param zone a time zone of the IANA database
 */
export function calendarGrid(range: Range, unit: CalendarUnit, zone: string): Grid {
  const first = DateTime.fromMillis(range.from, { zone }).startOf(unit);
  const edges = [first.toMillis()];
  // Each edge is computed from the first one: January 31 plus one month plus one month is not January 31 plus
  // two months.
  for (let count = 1; (edges.at(-1) as number) < range.to; count++)
    edges.push(
      first
        .plus({ [unit]: count })
        .startOf(unit)
        .toMillis(),
    );
  return edgeGrid(edges, SHORTEST_MS[unit]);
}

/** Creates a grid that has the whole range as one bin. */
export const wholeGrid = ({ from, to }: Range): Grid => edgeGrid([from, to], to - from);

/** The grid of an empty range. */
export const NO_BINS: Grid = edgeGrid([0], HOUR_MS);

/**
 * @param edges epoch ms, ascending: the starts of the bins, and the end of the last bin
 * @param narrowest ms
 */
function edgeGrid(edges: number[], narrowest: number): Grid {
  const length = edges.length - 1;
  const startOf = (index: number) => edges[index] as number;
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

/** @returns whether the IANA database has the time zone */
export const isZone = (zone: string): boolean => DateTime.utc().setZone(zone).isValid;

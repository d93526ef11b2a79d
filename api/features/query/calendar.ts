import { offsetOf, startOfLocal } from '../../../common/zones.ts';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import type { Grid } from '../../history/reading/grid.ts';
import type { Range } from '../../history/reading/hours.ts';

/** A week begins on Monday (ISO 8601). */
export type CalendarUnit = 'day' | 'week' | 'month';

/** In ms: a day on which a clock skips two hours, and the shortest month. */
const SHORTEST_MS = {
  day: DAY_MS - 2 * HOUR_MS,
  week: 7 * DAY_MS - 2 * HOUR_MS,
  month: 28 * DAY_MS - 2 * HOUR_MS,
};

/** An upper bound, without computing the calendar. @param range not empty */
export const mostCalendarBins = ({ from, to }: Range, unit: CalendarUnit): number =>
  Math.ceil((to - from) / SHORTEST_MS[unit]) + 1;

/** Daylight saving makes some bins shorter or longer. @param range not empty */
export function calendarGrid(range: Range, unit: CalendarUnit, zone: string): Grid {
  const local = new Date(range.from + offsetOf(range.from, zone));
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  const monday = day - ((local.getUTCDay() + 6) % 7);
  const midnightOf = {
    day: (count: number) => Date.UTC(year, month, day + count),
    week: (count: number) => Date.UTC(year, month, monday + 7 * count),
    month: (count: number) => Date.UTC(year, month + count),
  }[unit];
  const edges = [startOfLocal(midnightOf(0), zone)];
  for (let count = 1; (edges.at(-1) as number) < range.to; count++)
    edges.push(startOfLocal(midnightOf(count), zone));
  return edgeGrid(edges, SHORTEST_MS[unit]);
}

export const wholeGrid = ({ from, to }: Range): Grid => edgeGrid([from, to], to - from);

export const NO_BINS: Grid = edgeGrid([0], HOUR_MS);

/** @param edges ascending: the starts of the bins, and the end of the last bin */
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

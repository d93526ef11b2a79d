import { parseTime as parseAnyTime } from '../../common/times.ts';

// A bare number may be a measured value, a year of ISO 8601 or epoch ms. So a cell is a time only if it begins with a whole date.
const BEGINS_WITH_DATE = /^\d{4}-\d{2}-\d{2}/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** ISO 8601, with `T` or a space between date and time; without a time zone the time is UTC. @returns epoch ms; null: no time */
export const parseTime = (cell: string = ''): number | null =>
  BEGINS_WITH_DATE.test(cell) ? parseAnyTime(cell) : null;

/** Null: no finite decimal number. */
export function parseNumber(cell: string): number | null {
  const value = NUMBER.test(cell) ? Number(cell) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

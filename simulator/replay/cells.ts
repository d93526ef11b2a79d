import moment from 'moment';

// moment reads a bare number as a year (`1016` is a year in ISO 8601). So a cell is a time only if it begins with a whole date.
const BEGINS_WITH_DATE = /^\d{4}-\d{2}-\d{2}/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** ISO 8601, with `T` or a space between date and time; without a time zone the time is UTC. @returns epoch ms; null: no time */
export function parseTime(cell: string | undefined): number | null {
  if (cell === undefined || !BEGINS_WITH_DATE.test(cell)) return null;
  const time = moment.utc(cell, moment.ISO_8601, true);
  return time.isValid() ? time.valueOf() : null;
}

/** Null: no finite decimal number. */
export function parseNumber(cell: string): number | null {
  const value = NUMBER.test(cell) ? Number(cell) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

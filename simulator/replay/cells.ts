import moment from 'moment';

// moment reads a bare number as a year (`1016` is a year in ISO 8601). So a cell is a time only if it begins with a whole
// date.
const BEGINS_WITH_DATE = /^\d{4}-\d{2}-\d{2}/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * @param {string | undefined} cell ISO 8601, with `T` or a space between date and time; without a time zone the time is UTC
 * @returns {number | null} epoch ms; null when the cell is no time
 */
export function parseTime(cell) {
  if (cell === undefined || !BEGINS_WITH_DATE.test(cell)) return null;
  const time = moment.utc(cell, moment.ISO_8601, true);
  return time.isValid() ? time.valueOf() : null;
}

/** @param {string} cell @returns {number | null} null when the cell is no finite decimal number */
export function parseNumber(cell) {
  const value = NUMBER.test(cell) ? Number(cell) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

import moment from 'moment';

// moment reads a bare number as a year (`1016` is one in ISO 8601); a time column begins with a whole date.
const BEGINS_WITH_DATE = /^\d{4}-\d{2}-\d{2}/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * @param {string | undefined} cell ISO 8601, also with a space for the `T`; without a zone it is UTC
 * @returns {number | null} epoch ms, or null when this is no time
 */
export function parseTime(cell) {
  if (cell === undefined || !BEGINS_WITH_DATE.test(cell)) return null;
  const time = moment.utc(cell, moment.ISO_8601, true);
  return time.isValid() ? time.valueOf() : null;
}

/** @param {string} cell @returns {number | null} null when this is no finite decimal number */
export function parseNumber(cell) {
  const value = NUMBER.test(cell) ? Number(cell) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

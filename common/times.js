import moment from 'moment';

const WHOLE_NUMBER = /^-?\d{1,16}$/;

/**
 * @param {string} text ISO 8601 (without a zone: UTC) or integer milliseconds
 * @returns {number | null} epoch ms, or null when it is neither
 */
export function parseTime(text) {
  if (WHOLE_NUMBER.test(text)) return Number(text);
  const time = moment.utc(text, moment.ISO_8601, true);
  return time.isValid() ? time.valueOf() : null;
}

/** @param {number} ms epoch ms @returns {string} as `2026-11-21T00:00:00.000Z` */
export const formatTime = (ms) => new Date(ms).toISOString();

/** When something was, on the clock of the reader or in UTC. */

import { NOTHING } from './numbers.js';

/** @param {number} ts epoch ms @param {'local' | 'utc'} zone @returns {string} `14:03` */
export const formatClock = (ts, zone) => fields(ts, zone).slice(11, 16);

/** @param {number} ts epoch ms @param {'local' | 'utc'} zone @returns {string} `14:03:21` */
export const formatTime = (ts, zone) => fields(ts, zone).slice(11, 19);

/** @param {number} ts epoch ms @param {'local' | 'utc'} zone @returns {string} `14:03:21.250` */
export const formatTimeMs = (ts, zone) => fields(ts, zone).slice(11, 23);

/** @param {number} ts epoch ms @param {'local' | 'utc'} zone @returns {string} `2026-11-21` */
export const formatDate = (ts, zone) => fields(ts, zone).slice(0, 10);

/** @param {number} ts epoch ms @param {'local' | 'utc'} zone @returns {string} `2026-11-21 14:03` */
export const formatDateClock = (ts, zone) => `${formatDate(ts, zone)} ${formatClock(ts, zone)}`;

/** @param {number} ts epoch ms @param {'local' | 'utc'} zone @returns {string} `2026-11-21 14:03:21` */
export const formatDateTime = (ts, zone) => fields(ts, zone).slice(0, 19).replace('T', ' ');

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** @param {number} ts epoch ms @param {'local' | 'utc'} zone @returns {string} `21 Nov` */
export const formatDay = (ts, zone) => `${Number(fields(ts, zone).slice(8, 10))} ${formatMonth(ts, zone)}`;

/** @param {number} ts epoch ms @param {'local' | 'utc'} zone @returns {string} `Nov` */
export const formatMonth = (ts, zone) => MONTHS[Number(fields(ts, zone).slice(5, 7)) - 1] ?? NOTHING;

/** @param {number} ts epoch ms @param {'local' | 'utc'} zone @returns {string} `2026` */
export const formatYear = (ts, zone) => fields(ts, zone).slice(0, 4);

/** @param {'local' | 'utc'} zone @param {number} ts epoch ms @returns {string} `UTC`, `UTC+1`, `UTC−3:30` */
export function formatZone(zone, ts) {
  const minutes = zone === 'utc' ? 0 : -new Date(ts).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const size = Math.abs(minutes);
  const rest = size % 60 === 0 ? '' : `:${String(size % 60).padStart(2, '0')}`;
  return `UTC${minutes < 0 ? '−' : '+'}${Math.floor(size / 60)}${rest}`;
}

/** @param {number} ts @param {'local' | 'utc'} zone @returns {string} ISO 8601 digits as a clock on that zone's wall shows them */
function fields(ts, zone) {
  const offset = zone === 'utc' ? 0 : new Date(ts).getTimezoneOffset() * 60_000;
  return new Date(ts - offset).toISOString();
}

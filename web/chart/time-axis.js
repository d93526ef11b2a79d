import { formatClock, formatDay, formatMonth, formatTime, formatTimeMs, formatYear } from '../format.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MONTH_MS = 28 * DAY_MS;

/**
 * What stands under the ticks of a time axis: the time that tells them apart, and in a second line, where it changes, the day or year
 * that they are of.
 *
 * @param {number[]} ticks epoch ms
 * @param {number} stepMs between two of them
 * @param {'local' | 'utc'} zone
 * @returns {string[]}
 */
export function timeLabels(ticks, stepMs, zone) {
  const { fine, coarse } = formatsFor(stepMs);
  let said = '';
  return ticks.map((ts) => {
    const context = coarse(ts, zone);
    if (context === said) return fine(ts, zone);
    said = context;
    return `${fine(ts, zone)}\n${context}`;
  });
}

/** @typedef {(ts: number, zone: 'local' | 'utc') => string} Writer */

/** @param {number} stepMs @returns {{ fine: Writer, coarse: Writer }} */
function formatsFor(stepMs) {
  if (stepMs >= MONTH_MS) return { fine: formatMonth, coarse: formatYear };
  if (stepMs >= DAY_MS) return { fine: formatDay, coarse: formatYear };
  if (stepMs >= MINUTE_MS) return { fine: formatClock, coarse: formatDay };
  if (stepMs >= SECOND_MS) return { fine: formatTime, coarse: formatDay };
  return { fine: (ts, zone) => formatTimeMs(ts, zone).slice(3), coarse: formatDay };
}

/** How long something takes, or ago it is. */

import { formatNumber } from './numbers.js';

/**
 * @param {number} ms since it was measured
 * @returns {string} `now`, `12 s`, `4 min`, `3 h`, `5 d`
 */
export function formatAge(ms) {
  if (ms < -1500) return `in ${formatSpan(-ms)}`;
  return ms < 1000 ? 'now' : formatSpan(ms);
}

/** @param {number} ms @returns {string} in its largest whole unit */
export function formatSpan(ms) {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** @type {[ms: number, unit: string][]} */
const DURATIONS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** @param {number} ms how long something lasted @returns {string} in its largest unit and the next: `48 s`, `3 min 20 s`, `2 d 4 h` */
export function formatDuration(ms) {
  const at = DURATIONS.findIndex(([size]) => ms >= size);
  const [size, unit] = DURATIONS[at] ?? [1, 'ms'];
  const [lesser, lesserUnit] = DURATIONS[at === -1 ? -1 : at + 1] ?? [size, unit];
  const most = `${Math.floor(ms / size)} ${unit}`;
  const rest = Math.floor((ms % size) / lesser);
  return rest > 0 ? `${most} ${rest} ${lesserUnit}` : most;
}

/** @param {number} ms @returns {string} `1 s`, `15 min`, `6 h`, `30 d`: exact, unlike an age */
export function formatStep(ms) {
  if (ms % 86_400_000 === 0) return `${formatNumber(ms / 86_400_000)} d`;
  if (ms % 3_600_000 === 0) return `${formatNumber(ms / 3_600_000)} h`;
  if (ms % 60_000 === 0) return `${formatNumber(ms / 60_000)} min`;
  return ms % 1000 === 0 || ms > 1000 ? `${formatNumber(ms / 1000)} s` : `${formatNumber(ms)} ms`;
}

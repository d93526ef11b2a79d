/**
 * @typedef {Stats & { at: number }} Moment `at`: epoch ms by the clock that the whole page shows
 */

/** @import { Stats, StatsThen } from '../api/types.js' */

/** The charts reach back so far. */
export const SPAN_MS = 300_000;

/** They are told once a second; what is so near to another is the same. */
const SAME_MS = 500;

/**
 * @param {StatsThen[]} items the newest of them as good as now, whatever the clock of the server says
 * @param {number} now epoch ms
 * @returns {Moment[]}
 */
export function placed(items, now) {
  const newest = Date.parse(items.at(-1)?.ts ?? '');
  return items.map(({ ts, ...stats }) => ({ ...stats, at: now - (newest - Date.parse(ts)) }));
}

/**
 * @param {Moment[]} first
 * @param {Moment[]} then win where both know of a moment
 * @returns {Moment[]} in order of time, none older than the charts reach
 */
export function joined(first, then) {
  const begin = then[0]?.at ?? Number.POSITIVE_INFINITY;
  const all = [...first.filter(({ at }) => at < begin - SAME_MS), ...then];
  const oldest = (all.at(-1)?.at ?? 0) - SPAN_MS;
  return all.filter(({ at }) => at >= oldest);
}

import { packHour } from '../../../schema/packed/hour/pack-hour.js';
import { MAX_SAMPLES_PER_HISTORY_ROW } from '../../../schema/rules.js';

/** @typedef {import('../../../schema/packed/series.js').Series} Series */

/**
 * All samples of a sensor in one hour as rows of `history`: one, for any sensor of fewer than 18 samples a second.
 *
 * @param {number} hour epoch ms
 * @param {Series} series sorted
 * @returns {Generator<Buffer, void>} packed when asked for, since each takes a while
 */
export function* historyRows(hour, { times, values }) {
  for (let from = 0; from < times.length; from += MAX_SAMPLES_PER_HISTORY_ROW) {
    const to = Math.min(times.length, from + MAX_SAMPLES_PER_HISTORY_ROW);
    yield packHour(hour, times, values, from, to);
  }
}

/** @param {Series} a @param {Series} b @returns {boolean} whether they hold the very same samples, bit by bit */
export const isSame = (a, b) =>
  a.times.length === b.times.length &&
  a.times.every((time, at) => time === b.times[at] && Object.is(a.values[at], b.values[at]));

import { unpackSamples } from '../../../schema/packed/unpack.js';
import { bucketOf } from '../../../schema/rules.js';

/** @typedef {import('../../../schema/packed/series.js').Series} Series */

/**
 * What a row of `measurement_batch` holds: many samples packed, or one that stands in its key and `last`.
 *
 * @param {number} hour epoch ms
 * @param {import('../session.js').Row} row
 * @returns {Series} sorted
 * @throws {RangeError} where this is no row of that hour as anyone writes it
 */
export function seriesOf(hour, { ts, last, samples }) {
  if (samples) return unpackSamples(hour, samples);
  const time = ts.getTime();
  if (bucketOf(time) !== hour || typeof last !== 'number') throw new RangeError('a row without its sample');
  return { times: [time], values: [last] };
}

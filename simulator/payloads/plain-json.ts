import { numberText } from '../numbers.js';

/** @import { Series } from './index.js' */

/**
 * Encodes a batch as plain JSON: an array of `{"sensor_id","ts","value"}` with `ts` in epoch milliseconds.
 *
 * @param {Series[]} series
 * @returns {string}
 */
export function encodePlainJson(series) {
  const records = series.flatMap(({ name, samples }) => {
    const id = JSON.stringify(name);
    return samples.map(({ ts, value }) => `{"sensor_id":${id},"ts":${ts},"value":${numberText(value)}}`);
  });
  return `[${records.join(',')}]`;
}

import { MAX_SAMPLES_PER_HISTORY_ROW } from '../../rules.js';
import { Reader } from './bytes.js';
import { unpackValues } from './forms.js';
import { unpackTimes } from './times.js';

/**
 * Reads what follows the version byte of version 2.
 *
 * @param {Uint8Array} rest
 * @returns {{ offsets: Float64Array, values: Float64Array }} `offsets`: ms since the hour began, unchecked
 * @throws {RangeError} when these are no packed samples
 */
export function unpackHour(rest) {
  const reader = new Reader(rest);
  const form = reader.byte();
  const count = reader.count(MAX_SAMPLES_PER_HISTORY_ROW);
  const offsets = unpackTimes(reader, count);
  const values = unpackValues(reader, form, count);
  reader.end();
  return { offsets, values };
}

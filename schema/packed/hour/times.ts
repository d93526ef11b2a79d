import { varint } from './bytes.js';
import { fitClock, MOST, missedIn, tickAt, ticksOf } from './clock.js';
import { columnOf, packColumn, unpackColumn } from './column.js';
import { fromNumbers, toNumbers } from './integers.js';

/** @import { Reader } from './bytes.js' */

/**
 * @param {Float64Array} offsets ms since the hour began, ascending
 * @returns {Uint8Array[]} the clock, the number of ticks without a sample before each sample, and the difference of each time to its tick
 */
export function packTimes(offsets) {
  const even = clockColumns(offsets, new Int32Array(offsets.length));
  const missed = missedIn(offsets);
  const gappy = missed.some((ticks) => ticks !== 0) ? clockColumns(offsets, missed) : even;
  const { clock, columns } = gappy.estimate < even.estimate ? gappy : even;
  return [varint(clock.origin), varint(clock.interval), ...columns.flatMap(packColumn)];
}

/** @param {Float64Array} offsets @param {Int32Array} missed */
function clockColumns(offsets, missed) {
  const ticks = ticksOf(missed);
  const clock = fitClock(offsets, ticks);
  const deviations = new Float64Array(offsets.length);
  for (let i = 0; i < offsets.length; i++) {
    deviations[i] = /** @type {number} */ (offsets[i]) - tickAt(clock, /** @type {number} */ (ticks[i]));
  }
  const columns = [columnOf(fromNumbers(missed)), columnOf(fromNumbers(deviations))];
  return { clock, columns, estimate: columns.reduce((sum, { estimate }) => sum + estimate, 0) };
}

/**
 * @param {Reader} reader
 * @param {number} count
 * @returns {Float64Array} ms since the hour began, unchecked: the times may be out of order or outside the hour
 * @throws {RangeError}
 */
export function unpackTimes(reader, count) {
  const clock = { origin: reader.count(MOST), interval: reader.count(MOST) };
  const ticks = ticksOf(toNumbers(unpackColumn(reader, count)));
  const offsets = toNumbers(unpackColumn(reader, count));
  for (let i = 0; i < count; i++) {
    const tick = tickAt(clock, /** @type {number} */ (ticks[i]));
    offsets[i] = /** @type {number} */ (offsets[i]) + tick;
  }
  return offsets;
}

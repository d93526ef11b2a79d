import { type Reader, varint } from './bytes.ts';
import { fitClock, MAX_POSITION, missedIn, tickAt, ticksOf } from './clock.ts';
import { columnOf, packColumn, unpackColumn } from './column.ts';
import { fromNumbers, toNumbers } from './integers.ts';

/**
 * The clock, the number of ticks without a sample before each sample, and the difference of each time to its tick. `offsets`: ms since the
 * hour began, ascending.
 */
export function packTimes(offsets: Float64Array): Uint8Array[] {
  const even = clockColumns(offsets, new Int32Array(offsets.length));
  const missed = missedIn(offsets);
  const gappy = missed.some((ticks) => ticks !== 0) ? clockColumns(offsets, missed) : even;
  const { clock, columns } = gappy.estimate < even.estimate ? gappy : even;
  return [varint(clock.origin), varint(clock.interval), ...columns.flatMap(packColumn)];
}

function clockColumns(offsets: Float64Array, missed: Int32Array) {
  const ticks = ticksOf(missed);
  const clock = fitClock(offsets, ticks);
  const deviations = new Float64Array(offsets.length);
  for (let i = 0; i < offsets.length; i++) {
    deviations[i] = (offsets[i] as number) - tickAt(clock, ticks[i] as number);
  }
  const columns = [columnOf(fromNumbers(missed)), columnOf(fromNumbers(deviations))];
  return { clock, columns, estimate: columns.reduce((sum, { estimate }) => sum + estimate, 0) };
}

/** In ms since the hour began, unchecked: the times may be out of order or outside the hour. @throws {RangeError} */
export function unpackTimes(reader: Reader, count: number): Float64Array {
  const clock = { origin: reader.count(MAX_POSITION), interval: reader.count(MAX_POSITION) };
  const ticks = ticksOf(toNumbers(unpackColumn(reader, count)));
  const offsets = toNumbers(unpackColumn(reader, count));
  for (let i = 0; i < count; i++) {
    const tick = tickAt(clock, ticks[i] as number);
    offsets[i] = (offsets[i] as number) + tick;
  }
  return offsets;
}

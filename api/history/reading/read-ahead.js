import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayOf } from '../../../schema/rules.js';
import { readHours } from './samples.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Hour, Sensor } from './hours.js' */
/** @import { SampleSource } from './samples.js' */

/** Samples that one read is to bring, more or less: a day at 1 Hz, which takes some ms to unpack. */
const SAMPLES_A_READ = 90_000;

/** For how many samples an hour stands that nobody has counted. */
const UNCOUNTED = SAMPLES_A_READ / 4;

/** Reads under way while what the first of them brought is worked on. */
const AHEAD = 3;

/**
 * The samples of many hours, a bounded number of them in memory; others of this process get their turn in between.
 *
 * @param {SampleSource} source
 * @param {Sensor} sensor
 * @param {AsyncIterable<Hour[]>} chunks
 * @param {AbortSignal} [signal] whoever reads has gone
 * @param {number} [since] epoch ms: samples before it may be left out
 * @returns {AsyncGenerator<Series, void>} of each hour, in the order of the hours
 * @throws what `signal` was aborted with
 */
export async function* readAhead(source, sensor, chunks, signal, since) {
  /** @type {Array<Promise<Series[]>>} */
  const reads = [];
  for await (const hours of chunks) {
    for (const group of groupsOf(hours)) {
      signal?.throwIfAborted();
      const read = readHours(source, sensor, group, since);
      // Should it fail, that is found out when its turn comes, if ever.
      read.catch(() => {});
      reads.push(read);
      if (reads.length > AHEAD) yield* await /** @type {Promise<any>} */ (reads.shift());
      await nextTurn();
    }
  }
  for (const read of reads) {
    signal?.throwIfAborted();
    yield* await read;
    await nextTurn();
  }
}

/** @param {Hour[]} hours in either order @returns {Generator<Hour[], void>} hours of one UTC day, as many as one read is good for */
function* groupsOf(hours) {
  /** @type {Hour[]} */
  let group = [];
  let samples = 0;
  for (const hour of hours) {
    const expected = hour.count ?? UNCOUNTED;
    const [first] = group;
    if (first && (dayOf(first.hour) !== dayOf(hour.hour) || samples + expected > SAMPLES_A_READ)) {
      yield group;
      group = [];
      samples = 0;
    }
    group.push(hour);
    samples += expected;
  }
  if (group.length > 0) yield group;
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { mergeSeries } from '../../../schema/packed/series.js';
import { dayOf, HOUR_MS } from '../../../schema/rules.js';

/** @import { HistoryReads } from '../../store/history/reads.js' */
/** @import { Hour, Sensor } from './hours.js' */
/** @import { SampleReads } from '../../store/measurements/reads.js' */
/** @import { Series } from '../../../schema/packed/series.js' */

/**
 * The tables that hold samples.
 *
 * @typedef {object} SampleSource
 * @property {Pick<HistoryReads, 'readSamples'>} packed
 * @property {Pick<SampleReads, 'readHour'>} samples
 */

/**
 * Reads all samples of some hours, and merges the rows of each hour.
 *
 * @param {SampleSource} source
 * @param {Sensor} sensor
 * @param {Hour[]} hours hours in any order. They are read concurrently; one request reads all packed hours of a day
 * @param {number} [since] epoch ms: samples before it may be left out
 * @returns {Promise<Series[]>} one sorted series for each hour
 */
export async function readHours(source, sensor, hours, since = Number.NEGATIVE_INFINITY) {
  const days = new Map(hours.map(({ hour }) => [dayOf(hour), /** @type {Hour[]} */ ([])]));
  for (const hour of hours) days.get(dayOf(hour.hour))?.push(hour);
  const read = await Promise.all([...days.values()].map((day) => readDay(source, sensor, day, since)));
  const found = new Map(read.flat());
  return hours.map(({ hour }) => /** @type {Series} */ (found.get(hour)));
}

/** @param {SampleSource} source @param {Sensor} sensor @param {Hour[]} hours of one UTC day @param {number} since epoch ms @returns {Promise<Array<[hour: number, Series]>>} */
async function readDay(source, sensor, hours, since) {
  const starts = hours.map(({ hour }) => hour);
  const [packed, batches] = await Promise.all([
    source.packed.readSamples(sensor, Math.min(...starts), Math.max(...starts) + HOUR_MS),
    Promise.all(hours.map((hour) => readBatches(source, sensor, hour, since))),
  ]);
  return starts.map((hour, at) => [
    hour,
    mergeSeries([...(packed.get(hour) ?? []), .../** @type {Series[]} */ (batches[at])]),
  ]);
}

/** @param {SampleSource} source @param {Sensor} sensor @param {Hour} hour @param {number} since epoch ms @returns {Promise<Series[]>} */
const readBatches = async ({ samples }, { device, sensor }, { hour, packed }, since) =>
  packed ? [] : [await samples.readHour(device, sensor, hour, Math.max(hour, since))];

/**
 * Approximate number of samples per read: 8 hours at 1 Hz. With 90,000, arrays of several reads survived a few garbage
 * collections, and an export needed 80 MB above an idle process. With 30,000 it needs 40 MB.
 */
const SAMPLES_A_READ = 30_000;

/** Assumed number of samples of an hour whose number of samples is unknown. */
const UNCOUNTED = SAMPLES_A_READ / 4;

/** Number of reads that run while the result of an earlier read is processed. */
const AHEAD = 2;

/**
 * Reads the samples of many hours, with a bounded number of samples in memory. Other tasks of this process run between
 * two reads.
 *
 * @param {SampleSource} source
 * @param {Sensor} sensor
 * @param {AsyncIterable<Hour[]>} chunks
 * @param {AbortSignal} [signal] aborts when the client disconnects
 * @param {number} [since] epoch ms: samples before it may be left out
 * @returns {AsyncGenerator<Series, void>} one series for each hour, in the order of the hours
 * @throws the reason with which `signal` was aborted
 */
export async function* readAhead(source, sensor, chunks, signal, since) {
  /** @type {Array<Promise<Series[]>>} */
  const reads = [];
  for await (const hours of chunks) {
    for (const group of groupsOf(hours)) {
      signal?.throwIfAborted();
      const read = readHours(source, sensor, group, since);
      // A failure is reported when this read is consumed, if ever.
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

/**
 * Divides hours into groups. The hours of a group lie in one UTC day, and have about as many samples as one read should return.
 *
 * @param {Hour[]} hours in ascending or descending order
 * @returns {Generator<Hour[], void>}
 */
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

import { setImmediate as nextTurn } from 'node:timers/promises';
import { mergeSeries, type Series } from '../../../schema/packed/series.ts';
import { dayOf, HOUR_MS } from '../../../schema/rules.ts';
import type { HistoryReads } from '../../store/history/reads.ts';
import type { SampleReads } from '../../store/measurements/reads.ts';
import type { Hour, Sensor } from './hours.ts';

/** The tables that hold samples. */
export interface SampleSource {
  packed: Pick<HistoryReads, 'readSamples'>;
  samples: Pick<SampleReads, 'readHour'>;
}

/**
 * Reads all samples of some hours, and merges the rows of each hour.
 * @param hours hours in any order. They are read concurrently; one request reads all packed hours of a day
 * @param since epoch ms: samples before it may be left out
 * @returns one sorted series for each hour
 */
export async function readHours(
  source: SampleSource,
  sensor: Sensor,
  hours: Hour[],
  since: number = Number.NEGATIVE_INFINITY,
): Promise<Series[]> {
  const days = new Map(hours.map(({ hour }) => [dayOf(hour), [] as Hour[]]));
  for (const hour of hours) days.get(dayOf(hour.hour))?.push(hour);
  const read = await Promise.all([...days.values()].map((day) => readDay(source, sensor, day, since)));
  const found = new Map(read.flat());
  return hours.map(({ hour }) => found.get(hour) as Series);
}

/** @param hours of one UTC day @param since epoch ms */
async function readDay(
  source: SampleSource,
  sensor: Sensor,
  hours: Hour[],
  since: number,
): Promise<Array<[hour: number, Series]>> {
  const starts = hours.map(({ hour }) => hour);
  const [packed, batches] = await Promise.all([
    source.packed.readSamples(sensor, Math.min(...starts), Math.max(...starts) + HOUR_MS),
    Promise.all(hours.map((hour) => readBatches(source, sensor, hour, since))),
  ]);
  return starts.map((hour, at) => [
    hour,
    mergeSeries([...(packed.get(hour) ?? []), ...(batches[at] as Series[])]),
  ]);
}

/** @param since epoch ms */
const readBatches = async (
  { samples }: SampleSource,
  { device, sensor }: Sensor,
  { hour, packed }: Hour,
  since: number,
): Promise<Series[]> => (packed ? [] : [await samples.readHour(device, sensor, hour, Math.max(hour, since))]);

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
 * @param signal aborts when the client disconnects
 * @param since epoch ms: samples before it may be left out
 * @returns one series for each hour, in the order of the hours
 * @throws the reason with which `signal` was aborted
 */
export async function* readAhead(
  source: SampleSource,
  sensor: Sensor,
  chunks: AsyncIterable<Hour[]>,
  signal?: AbortSignal,
  since?: number,
): AsyncGenerator<Series, void> {
  const reads: Array<Promise<Series[]>> = [];
  for await (const hours of chunks) {
    for (const group of groupsOf(hours)) {
      signal?.throwIfAborted();
      const read = readHours(source, sensor, group, since);
      // A failure is reported when this read is consumed, if ever.
      read.catch(() => {});
      reads.push(read);
      if (reads.length > AHEAD) yield* await (reads.shift() as Promise<Series[]>);
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
 * @param hours in ascending or descending order
 */
function* groupsOf(hours: Hour[]): Generator<Hour[], void> {
  let group: Hour[] = [];
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

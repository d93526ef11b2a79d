import { setImmediate as nextTurn } from 'node:timers/promises';
import { mergeSeries, type Series } from '../../../schema/packed/series.ts';
import { dayOf, HOUR_MS } from '../../../schema/rules.ts';
import type { HistoryReads } from '../../store/history/reads.ts';
import type { SampleReads } from '../../store/measurements/reads.ts';
import type { Hour, Sensor } from './hours.ts';

export interface SampleSource {
  packed: Pick<HistoryReads, 'readSamples'>;
  samples: Pick<SampleReads, 'readHour'>;
}

/** One request reads all packed hours of a day. @param since epoch ms: samples before it may be left out */
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

const readBatches = async (
  { samples }: SampleSource,
  { device, sensor }: Sensor,
  { hour, packed }: Hour,
  since: number,
): Promise<Series[]> => (packed ? [] : [await samples.readHour(device, sensor, hour, Math.max(hour, since))]);

/** 8 hours at 1 Hz. With 90,000, arrays survived collections, and an export needed 80 MB above an idle process. Now it needs 40 MB. */
const SAMPLES_A_READ = 30_000;

/** Assumed for an hour whose number of samples is unknown. */
const UNCOUNTED = SAMPLES_A_READ / 4;

/** Reads that run while the result of an earlier read is processed. */
const AHEAD = 2;

/** A bounded number of samples is in memory. @throws the reason with which `signal` was aborted */
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

/** The hours of a group lie in one UTC day, and have about as many samples as one read should return. */
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

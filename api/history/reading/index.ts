import { performance } from 'node:perf_hooks';
import type { Series } from '../../../schema/packed/series.ts';
import type { Store } from '../../store/index.ts';
import { chunksOf, createLookUp, type Hour, type Order, type Range, type Sensor } from './hours.ts';
import { readPage } from './pages.ts';
import { readAhead, readHours } from './samples.ts';
import { readBins, readSeries } from './series.ts';

export { Bins, widthFor } from './bins.ts';
export { binsOf, uniformGrid } from './grid.ts';
export { LONGEST_MS, storedRange, unpackedHours } from './hours.ts';
export { createFindNewest } from './newest.ts';

/** Callers do not see whether a sample is in history or in the table `message` ("batches"). `hours.ts` has the rules. */
export function createReading(store: Pick<Store, 'samples' | 'packed' | 'scans' | 'packProgress'>) {
  const packedUntil = rememberPackedUntil(store.packProgress);
  const lookUp = createLookUp({ packedUntil, readStatistics: store.packed.readStatistics });
  return {
    /** Has exact statistics if they are known. @param length of the first part of the range that is read, in ms */
    hours: (sensor: Sensor, range: Range, order: Order, length: number) =>
      chunksOf(lookUp, sensor, range, order, length),

    /** @param since epoch ms: samples before it may be left out @returns one sorted series for each hour */
    samplesOf: (sensor: Sensor, hours: Hour[], since?: number): Promise<Series[]> =>
      readHours(store, sensor, hours, since),

    page: (sensor: Sensor, range: Range, page: { order: Order; limit: number }) =>
      readPage({ lookUp, source: store }, sensor, range, page),

    /** The results of a few reads are in memory. @param order of the hours; the samples of an hour are always in order of time */
    all: (sensor: Sensor, range: Range, order: Order, signal: AbortSignal) =>
      readAhead(store.scans, sensor, chunksOf(lookUp, sensor, range, order), signal),

    series: (sensor: Sensor, range: Range, options: Parameters<typeof readSeries>[3]) =>
      readSeries({ lookUp, source: store }, sensor, range, options),

    /** Adds the samples of a sensor to `bins`. */
    bins: (sensor: Sensor, range: Range, options: Parameters<typeof readBins>[3]) =>
      readBins({ lookUp, source: store }, sensor, range, options),
  };
}

export type Reading = ReturnType<typeof createReading>;

/** In ms. Outdated progress causes no wrong answer, but more hours than necessary are read from both history and `message`. */
const PROGRESS_CACHE_MS = 5000;

function rememberPackedUntil(store: Pick<Store['packProgress'], 'read'>): (group: number) => Promise<number> {
  const groups: Map<number, { at: number; packedUntil: Promise<number> }> = new Map();
  return (group) => {
    const now = performance.now();
    const known = groups.get(group);
    if (known && now - known.at < PROGRESS_CACHE_MS) return known.packedUntil;
    const packedUntil = store.read(group).then((progress) => progress.packedUntil);
    const entry = { at: now, packedUntil };
    groups.set(group, entry);
    packedUntil.catch(() => {
      if (groups.get(group) === entry) groups.delete(group);
    });
    return packedUntil;
  };
}

import { chunksOf } from './chunks.js';
import { createLookUp } from './hours.js';
import { readPage } from './pages.js';
import { rememberPackedUntil } from './progress.js';
import { readAhead } from './read-ahead.js';
import { readSeries } from './series/index.js';

/**
 * Reads what a sensor has measured, from history and from batches alike: nobody outside sees which of them answered.
 *
 * @param {Pick<import('../../store/index.js').Store, 'samples' | 'packed' | 'scans' | 'packProgress'>} store
 */
export function createReading(store) {
  const packedUntil = rememberPackedUntil(store.packProgress);
  const lookUp = createLookUp({ packedUntil, readStatistics: store.packed.readStatistics });
  return {
    lookUp,

    /**
     * @param {import('./hours.js').Sensor} sensor
     * @param {import('./chunks.js').Range} range within retention
     * @param {{ order: import('./chunks.js').Order, limit: number }} page
     */
    page: (sensor, range, page) => readPage({ lookUp, source: store }, sensor, range, page),

    /**
     * All samples of the hours that a range touches, as many in memory as a few reads bring.
     *
     * @param {import('./hours.js').Sensor} sensor
     * @param {import('./chunks.js').Range} range within retention
     * @param {import('./chunks.js').Order} order of the hours; the samples of each are in order of time
     * @param {AbortSignal} signal whoever reads has gone
     */
    all: (sensor, range, order, signal) =>
      readAhead(store.scans, sensor, chunksOf(lookUp, sensor, range, order), signal),

    /**
     * @param {import('./hours.js').Sensor} sensor
     * @param {import('./chunks.js').Range} range within retention
     * @param {Parameters<typeof readSeries>[3]} options
     */
    series: (sensor, range, options) => readSeries({ lookUp, source: store }, sensor, range, options),
  };
}

/** @typedef {ReturnType<typeof createReading>} Reading */

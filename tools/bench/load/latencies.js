import { createHistogram } from 'node:perf_hooks';

/** Latencies are recorded up to an hour, with three digits. */
const LONGEST_US = 3_600_000_000;

/**
 * Latencies in an HDR histogram, Node's own: nothing has to be installed, recording is one call of C, and one process
 * sees all of them, so nothing has to be merged.
 */
export function createLatencies() {
  const histogram = createHistogram({ lowest: 1, highest: LONGEST_US, figures: 3 });
  return {
    /** @param {number} ms */
    record(ms) {
      histogram.record(Math.min(LONGEST_US, Math.max(1, Math.round(ms * 1000))));
    },
    reset: () => histogram.reset(),
    /** @returns {Latencies} */
    read: () => ({
      count: histogram.count,
      p50: histogram.percentile(50) / 1000,
      p99: histogram.percentile(99) / 1000,
      p999: histogram.percentile(99.9) / 1000,
      max: histogram.max / 1000,
      mean: histogram.mean / 1000,
    }),
  };
}

/** In ms. @typedef {{ count: number, p50: number, p99: number, p999: number, max: number, mean: number }} Latencies */

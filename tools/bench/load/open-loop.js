import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * An open loop sends at a fixed rate, however long answers take. Each call gets the time at which it was meant
 * to be sent. Its latency counts from there, so a wait because of a busy machine is included.
 *
 * @param {object} options
 * @param {number} options.rate a second
 * @param {number} options.forMs Infinity: until it is stopped
 * @param {(intended: number) => void} options.send `intended`: by performance.now()
 * @param {() => void} [options.flush] called after those that were due together
 * @param {AbortSignal} [options.signal] ends it early
 * @returns {Promise<number>} how many were sent
 */
export async function pace({ rate, forMs, send, flush = () => {}, signal }) {
  const began = performance.now();
  const total = Math.round((rate * forMs) / 1000);
  let sent = 0;
  while (sent < total && !signal?.aborted) {
    const due = Math.min(total, Math.floor(((performance.now() - began) * rate) / 1000) + 1);
    for (; sent < due; sent++) send(began + (sent * 1000) / rate);
    flush();
    await sleep(1);
  }
  return sent;
}

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

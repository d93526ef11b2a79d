import { Counter, Histogram } from 'prom-client';
import { createPermits } from '../../../api/ingest/backpressure/window.js';

/** Requests in flight of a baseline until a sweep has found its best number. */
const FIRST = 128;

/**
 * Ingest's own permits with a fixed bound: what a baseline is swept over, where ingest finds its own.
 */
export function createGate() {
  const bound = { size: FIRST };
  const permits = createPermits(bound);

  return {
    enter: permits.enter,
    leave: permits.leave,
    cancel: permits.cancel,
    /** @param {number} number of requests in flight from now on */
    set(number) {
      bound.size = number;
      permits.admit();
    },
  };
}

/** @typedef {ReturnType<typeof createGate>} Gate */

/** The counters that the bench reads. */
const NEEDED = new Set(['iot_ingest_samples_total', 'iot_ingest_dead_letters_total']);

/**
 * Has Prometheus' counters and histograms in this process count nothing but what the bench reads. These are the methods that
 * prom-client (15) gives to each of them as its `inc` and `observe`; a test sees that nothing is counted.
 */
export function countNothing() {
  const counting = /** @type {{ incWithoutExemplar: Function }} */ (
    /** @type {unknown} */ (Counter.prototype)
  );
  const { incWithoutExemplar } = counting;
  /** @this {{ name: string }} @param {any[]} given */
  counting.incWithoutExemplar = function incNeeded(...given) {
    if (NEEDED.has(this.name)) Reflect.apply(incWithoutExemplar, this, given);
  };
  Object.assign(Histogram.prototype, { observeWithoutExemplar() {} });
}

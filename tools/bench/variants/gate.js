import { Permits } from '../../../api/store/sending/congestion-window.js';

/** Requests in flight of a baseline until a sweep has found its best number. */
const FIRST = 128;

/**
 * Ingest's own permits with a fixed bound: what a baseline is swept over, where ingest finds its own.
 */
export function createGate() {
  const bound = { size: FIRST };
  const permits = new Permits(bound);

  return {
    enter: () => permits.enter(),
    /** @param {number} began in ms of `performance.now()` @param {unknown} [error] */
    leave: (began, error) => permits.leave(began, error),
    cancel: () => permits.cancel(),
    /** @param {number} number of requests in flight from now on */
    set(number) {
      bound.size = number;
      permits.admit();
    },
  };
}

/** @typedef {ReturnType<typeof createGate>} Gate */

import { Permits } from '../../../api/store/sending/congestion-window.js';

/** Requests in flight of a baseline until a sweep has found its best number. */
const FIRST = 128;

/**
 * Permits of ingest with a fixed bound. A sweep sets the bound of a baseline, while ingest finds its own.
 */
export function createGate() {
  const bound = { size: FIRST };
  const permits = new Permits(bound);

  return Object.assign(permits, {
    /** @param {number} number of requests in flight from now on */
    set(number) {
      bound.size = number;
      permits.admit();
    },
  });
}

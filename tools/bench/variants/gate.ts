import { Permits } from '../../../api/store/sending/congestion-window.ts';

/** Number of requests in flight of a baseline until a sweep has found the best number. */
const FIRST = 128;

/**
 * Limits the requests in flight of ingest to a fixed number, which a sweep sets for a baseline. Unchanged ingest finds its own
 * number.
 */
export function createGate() {
  const bound = { size: FIRST };
  const permits = new Permits(bound);

  return Object.assign(permits, {
    /** @param number number of requests in flight from now on */
    set(number: number) {
      bound.size = number;
      permits.admit();
    },
  });
}

import { Permits } from '../../../api/store/sending/congestion-window.ts';

/** Requests in flight of a baseline until a sweep has found the best number. */
const FIRST = 128;

/** A sweep sets the number of requests in flight for a baseline. Unchanged ingest finds its own number. */
export function createGate() {
  const bound = { size: FIRST };
  const permits = new Permits(bound);

  return Object.assign(permits, {
    set(number: number) {
      bound.size = number;
      permits.admit();
    },
  });
}

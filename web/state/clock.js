import { createObservable } from './observable.js';

/**
 * The time that all ages on the screen are counted from; one tick a second, so that they move together.
 *
 * @param {{ everyMs?: number }} [options]
 * @returns {Clock}
 */
export function createClock({ everyMs = 1000 } = {}) {
  const now = createObservable(Date.now());
  setInterval(() => now.set(Date.now()), everyMs);
  return now;
}

/** @typedef {import('./observable.js').Observable<number>} Clock epoch ms */

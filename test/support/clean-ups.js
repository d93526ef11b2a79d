import { afterEach } from '@jest/globals';

/**
 * Runs the clean-ups of each test of the file after it, also when it fails, in reverse order.
 *
 * @param {number} [withinMs] default: the timeout of a test
 * @returns {(cleanUp: () => unknown) => void} registers a clean-up
 */
export function useCleanUps(withinMs) {
  /** @type {Array<() => unknown>} */
  const cleanUps = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  }, withinMs);
  return (cleanUp) => void cleanUps.push(cleanUp);
}

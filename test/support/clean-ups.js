import { afterEach } from '@jest/globals';

/**
 * What a test of this file has begun is ended after it, even when it fails: what was begun last first.
 *
 * @param {number} [withinMs] default: as a test
 * @returns {(cleanUp: () => unknown) => void} takes what ends it
 */
export function useCleanUps(withinMs) {
  /** @type {Array<() => unknown>} */
  const cleanUps = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  }, withinMs);
  return (cleanUp) => void cleanUps.push(cleanUp);
}

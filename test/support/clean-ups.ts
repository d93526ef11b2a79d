import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { runCleanUps } from './run-clean-ups.ts';

/**
 * Runs the clean-ups of each test after the test, also after a failed one, in reverse order.
 * @param withinMs default: the timeout of a test
 * @returns registers a clean-up
 */
export function useCleanUps(withinMs?: number): (cleanUp: () => unknown) => void {
  const cleanUps: Array<() => unknown> = [];
  afterEach(() => runCleanUps(cleanUps), withinMs);
  return (cleanUp) => void cleanUps.push(cleanUp);
}

/**
 * Starts something for the tests of a file, and ends it after them. The returned object gets its members when the start ends.
 * @param withinMs default: the timeout of a test
 */
export function useStarted<T extends object>(
  start: () => Promise<T>,
  end: (started: T) => unknown,
  withinMs?: number,
): T {
  const started = {} as T;
  let isStarted = false;
  beforeAll(async () => {
    Object.assign(started, await start());
    isStarted = true;
  }, withinMs);
  afterAll(async () => {
    if (isStarted) await end(started);
  }, withinMs);
  return started;
}

import { afterAll, afterEach, beforeAll } from '@jest/globals';

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
 * Runs clean-ups, the last registered one first, and forgets them. A failed clean-up does not stop the others, because their
 * processes would stay.
 * @throws what the first failure threw
 */
export async function runCleanUps(cleanUps: Array<() => unknown>) {
  const failures: unknown[] = [];
  for (const cleanUp of cleanUps.splice(0).reverse()) {
    try {
      await cleanUp();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
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

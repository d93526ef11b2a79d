import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns the default limit of a wait. A wait ends as soon as its condition is true, so a long limit costs time only
 * in a test that fails.
 *
 * @returns {number} ms; longer on a machine of continuous integration, which other work may stall
 */
export const waitLimitMs = () => (process.env['CI'] ? 120_000 : 30_000);

/**
 * Waits for a condition instead of a fixed time.
 *
 * @template T
 * @param {() => Promise<T> | T} probe called repeatedly until its result is truthy
 * @param {{ withinMs?: number, what?: string }} [options] `withinMs`: `waitLimitMs()` by default. A caller sets it for
 *   something that takes longer, or where the limit is what the test checks.
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(probe, { withinMs = waitLimitMs(), what = 'the condition' } = {}) {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await probe();
    if (value) return /** @type {NonNullable<T>} */ (value);
    if (performance.now() > deadline) throw new Error(`${what} did not come about within ${withinMs} ms`);
    await sleep(25);
  }
}

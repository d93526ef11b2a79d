import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for a condition instead of a fixed time.
 *
 * @template T
 * @param {() => Promise<T> | T} probe called repeatedly until its result is truthy
 * @param {{ withinMs?: number, what?: string }} [options]
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(probe, { withinMs = 30_000, what = 'the condition' } = {}) {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await probe();
    if (value) return /** @type {NonNullable<T>} */ (value);
    if (Date.now() > deadline) throw new Error(`${what} did not come about within ${withinMs} ms`);
    await sleep(25);
  }
}

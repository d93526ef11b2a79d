import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for a condition, never for a fixed time.
 *
 * @template T
 * @param {() => Promise<T> | T} probe asked again and again until what it gives is truthy
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

import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns the default limit of a wait. A wait ends as soon as its condition is true, so a long limit costs time only
 * in a test that fails.
 * @returns ms; longer on a machine of continuous integration, which other work may stall
 */
export const waitLimitMs = (): number => (process.env['CI'] ? 120_000 : 30_000);

/**
 * Waits for a condition instead of a fixed time.
 * @param probe called repeatedly until its result is truthy
 * @param options `withinMs`: `waitLimitMs()` by default. A caller sets it for something that takes longer, or where
 * the limit is what the test checks.
 */
export async function until<T>(
  probe: () => Promise<T> | T,
  { withinMs = waitLimitMs(), what = 'the condition' }: { withinMs?: number; what?: string } = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await probe();
    if (value) return value as NonNullable<T>;
    if (performance.now() > deadline) throw new Error(`${what} did not come about within ${withinMs} ms`);
    await sleep(25);
  }
}

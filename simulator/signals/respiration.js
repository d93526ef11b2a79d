import { createDailyCycle, createDrift, createEpisodes, rounded, within } from './parts.js';

/** @import { Signal } from './index.js' */

/**
 * Breaths of a cow a minute: 20 to 32 at rest, more by day, and panting now and then.
 *
 * @satisfies {Signal}
 */
export const respiration = {
  type: 'respiration',
  unit: '1/min',
  range: [10, 100],
  create(random, intervalMs) {
    const usual = random.between(20, 32);
    const day = createDailyCycle(random, intervalMs);
    const drift = createDrift(random, intervalMs, { memoryMs: 120_000, deviation: 1.5 });
    const panting = createEpisodes(random, intervalMs, {
      everyMs: 1_800_000,
      lastsMs: 240_000,
      riseMs: 40_000,
    });
    return () => {
      const value = usual + 3 * day() + drift() + 30 * panting() + 0.3 * random.normal();
      return rounded(within(value, 10, 100), 1);
    };
  },
};

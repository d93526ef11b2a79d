import { createDailyCycle, createDrift, createEpisodes, rounded, within } from './parts.js';

/** @import { Signal } from './index.js' */

/**
 * Heart rate of a cow: 55 to 75 beats a minute at rest, far more on a run.
 *
 * @satisfies {Signal}
 */
export const pulse = {
  type: 'pulse',
  unit: 'beat/min',
  range: [40, 180],
  create(random, intervalMs) {
    const usual = random.between(55, 75);
    const day = createDailyCycle(random, intervalMs);
    const drift = createDrift(random, intervalMs, { memoryMs: 60_000, deviation: 3 });
    const run = createEpisodes(random, intervalMs, { everyMs: 900_000, lastsMs: 90_000, riseMs: 15_000 });
    return () => {
      const value = usual + 4 * day() + drift() + 55 * run() + random.normal();
      return rounded(within(value, 40, 180), 0);
    };
  },
};

import { createDailyCycle, createDrift, createEpisodes, rounded, within } from './parts.js';

/** @import { Signal } from './index.js' */

/**
 * Body temperature of a cow: about 38.6 °C, a little higher in the evening, and now and then a fever.
 *
 * @satisfies {Signal}
 */
export const temperature = {
  type: 'temperature',
  unit: 'Cel',
  range: [36, 42],
  create(random, intervalMs) {
    const usual = random.between(38.3, 38.8);
    const day = createDailyCycle(random, intervalMs);
    const drift = createDrift(random, intervalMs, { memoryMs: 600_000, deviation: 0.08 });
    const fever = createEpisodes(random, intervalMs, {
      everyMs: 6 * 3_600_000,
      lastsMs: 1_800_000,
      riseMs: 300_000,
    });
    return () => {
      const value = usual + 0.3 * day() + drift() + 1.6 * fever() + 0.02 * random.normal();
      return rounded(within(value, 36, 42), 2);
    };
  },
};

import { createDailyCycle, createDrift, createEpisodes, rounded, within } from './components.ts';
import type { Signal } from './index.ts';

/** A cow: 55 to 75 beats a minute at rest, and much more while it runs. */
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
} satisfies Signal;

/** A cow: 20 to 32 breaths a minute at rest, more by day, and sometimes panting. */
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
} satisfies Signal;

/** A cow: about 38.6 °C, a little higher in the evening, and sometimes a fever. */
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
} satisfies Signal;

import { createDrift, rounded, within } from '../components.ts';
import type { Signal } from '../index.ts';
import { createRun } from './run.ts';

/** A pump holds the pressure while the machine runs. The pressure falls slowly while the machine stands. @param part pascals */
export const pressure = ({ rated }: { rated: number }): Signal => ({
  type: 'pressure',
  unit: 'Pa',
  range: [0, 40e6],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    const ripple = createDrift(random, intervalMs, { memoryMs: 5000, deviation: 0.01 });
    return () => {
      const { speed, load } = run();
      const value = rated * (0.2 + 0.8 * speed) * (1 - 0.05 * load + ripple());
      return 100 * Math.round(within(value, 0, 40e6) / 100);
    };
  },
});

/** The fluid moves while the machine runs. @param part liters per second */
export const flow = ({ rated }: { rated: number }): Signal => ({
  type: 'flow',
  unit: 'l/s',
  range: [0, 50],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => rounded(within(rated * run().speed * (1 + 0.02 * random.normal()), 0, 50), 3);
  },
});

/**
 * The machine uses up the tank while it works, and the tank is filled up when it is low.
 * @param part time in which full load empties the tank
 */
export const level = ({ lastsMs }: { lastsMs: number }): Signal => ({
  type: 'level',
  unit: '%',
  range: [0, 100],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    let percent = random.between(30, 95);
    return () => {
      percent -= (100 * intervalMs * run().load) / lastsMs;
      if (percent < 15) percent = random.between(90, 98);
      return rounded(within(percent + 0.1 * random.normal(), 0, 100), 1);
    };
  },
});

export const humidity: Signal = {
  type: 'humidity',
  unit: '%RH',
  range: [0, 100],
  create(random, intervalMs) {
    const drift = createDrift(random, intervalMs, { memoryMs: 1_800_000, deviation: 3 });
    const usual = random.between(25, 40);
    return () => rounded(within(usual + drift(), 0, 100), 1);
  },
};

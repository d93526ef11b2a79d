import { createDrift, rounded, within } from '../components.js';
import { createRun } from './run.js';

/** @import { Signal } from '../index.js' */

/**
 * Creates a pressure that a pump holds while the machine runs. The pressure falls slowly while the machine stands.
 *
 * @param {{ rated: number }} part pascals
 * @returns {Signal}
 */
export const pressure = ({ rated }) => ({
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

/**
 * Creates the flow of a fluid that moves while the machine runs.
 *
 * @param {{ rated: number }} part liters per second
 * @returns {Signal}
 */
export const flow = ({ rated }) => ({
  type: 'flow',
  unit: 'l/s',
  range: [0, 50],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => rounded(within(rated * run().speed * (1 + 0.02 * random.normal()), 0, 50), 3);
  },
});

/**
 * Creates the level of a tank. The machine uses up the tank while it works, and the tank is filled up when it is low.
 *
 * @param {{ lastsMs: number }} part time in which full load empties the tank
 * @returns {Signal}
 */
export const level = ({ lastsMs }) => ({
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

/** Relative humidity of compressed air. @type {Signal} */
export const humidity = {
  type: 'humidity',
  unit: '%RH',
  range: [0, 100],
  create(random, intervalMs) {
    const drift = createDrift(random, intervalMs, { memoryMs: 1_800_000, deviation: 3 });
    const usual = random.between(25, 40);
    return () => rounded(within(usual + drift(), 0, 100), 1);
  },
};

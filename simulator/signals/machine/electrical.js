import { rounded, within } from '../components.js';
import { createRun } from './run.js';

/** @import { Signal } from '../index.js' */

/**
 * Current that a drive draws: a little when it stands, more the harder it works.
 *
 * @param {{ rated: number }} part amperes at full load
 * @returns {Signal}
 */
export const current = ({ rated }) => ({
  type: 'current',
  unit: 'A',
  range: [0, 200],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => rounded(within(0.4 + rated * run().load + 0.01 * rated * random.normal(), 0, 200), 2);
  },
});

/**
 * Power that is drawn.
 *
 * @param {{ rated: number, idle: number }} part watts at full load, and when it stands
 * @returns {Signal}
 */
export const power = ({ rated, idle }) => ({
  type: 'power',
  unit: 'W',
  range: [0, 100_000],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => rounded(within(idle + rated * run().load * (1 + 0.01 * random.normal()), 0, 100_000), 0);
  },
});

/** Mains: 400 V, a little less when the machine draws much. @type {Signal} */
export const voltage = {
  type: 'voltage',
  unit: 'V',
  range: [340, 460],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => rounded(within(402 - 4 * run().load + 0.6 * random.normal(), 340, 460), 1);
  },
};

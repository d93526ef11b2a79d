import { rounded, within } from '../components.ts';
import type { Signal } from '../index.ts';
import { createRun } from './run.ts';

/** Little while the machine stands, and more with the load. @param part amperes at full load */
export const current = ({ rated }: { rated: number }): Signal => ({
  type: 'current',
  unit: 'A',
  range: [0, 200],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => rounded(within(0.4 + rated * run().load + 0.01 * rated * random.normal(), 0, 200), 2);
  },
});

/** @param part watts at full load, and watts while the machine stands */
export const power = ({ rated, idle }: { rated: number; idle: number }): Signal => ({
  type: 'power',
  unit: 'W',
  range: [0, 100_000],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => rounded(within(idle + rated * run().load * (1 + 0.01 * random.normal()), 0, 100_000), 0);
  },
});

/** The mains have 400 V, and a little less when the machine draws much current. */
export const voltage: Signal = {
  type: 'voltage',
  unit: 'V',
  range: [340, 460],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => rounded(within(402 - 4 * run().load + 0.6 * random.normal(), 340, 460), 1);
  },
};

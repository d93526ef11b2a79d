import { createDailyCycle, rounded, within } from '../components.ts';
import type { Signal } from '../index.ts';
import { createRun } from './run.ts';

/**
 * A part warms up under load and cools down slowly. The hall around it is warmer by day.
 * @param part kelvins above the hall at full load; time constant of the warming
 */
export const thermal = ({ rise, memoryMs }: { rise: number; memoryMs: number }): Signal => ({
  type: 'temperature',
  unit: 'Cel',
  range: [0, 150],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    const hall = createDailyCycle(machine(), intervalMs);
    const approach = 1 - Math.exp(-intervalMs / memoryMs);
    let above = rise * random.between(0.3, 0.7);
    return () => {
      above += (rise * run().load - above) * approach;
      return rounded(within(21 + 3 * hall() + above + 0.05 * random.normal(), 0, 150), 1);
    };
  },
});

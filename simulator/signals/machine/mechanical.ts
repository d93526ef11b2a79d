import { createEpisodes, rounded, within } from '../components.ts';
import type { Signal } from '../index.ts';
import { createRun } from './run.ts';

/**
 * Root mean square. It grows with the square of the speed, and is sometimes higher because of a loose part.
 * @param part m/s2 at full speed
 */
export const vibration = ({ usual }: { usual: number }): Signal => ({
  type: 'vibration',
  unit: 'm/s2',
  range: [0, 100],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    const own = usual * random.between(0.7, 1.3);
    const loose = createEpisodes(random, intervalMs, {
      everyMs: 4 * 3_600_000,
      lastsMs: 600_000,
      riseMs: 60_000,
    });
    return () => {
      const { speed } = run();
      const value = own * speed ** 2 * (1 + 2 * loose()) + 0.02 + 0.05 * own * Math.abs(random.normal());
      return rounded(within(value, 0, 100), 3);
    };
  },
});

/** The set speed, and a little less under load. @param part revolutions per minute at the set speed */
export const rotation = ({ rated }: { rated: number }): Signal => ({
  type: 'rotation',
  unit: '1/min',
  range: [0, 20_000],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => {
      const { speed, load } = run();
      const value = rated * speed * (1 - 0.03 * load) + 0.001 * rated * speed * random.normal();
      return rounded(within(value, 0, 20_000), 0);
    };
  },
});

export const force: Signal = {
  type: 'force',
  unit: 'N',
  range: [0, 20_000],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => rounded(within(4500 * run().load + 12 * random.normal(), 0, 20_000), 0);
  },
};

/** The position error of an axis, typically some micrometers. */
export const deviation: Signal = {
  type: 'deviation',
  unit: 'm',
  range: [-0.001, 0.001],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => rounded(within(4e-6 * (0.1 + run().load) * random.normal(), -0.001, 0.001), 7);
  },
};

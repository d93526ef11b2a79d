import { rounded } from '../components.ts';
import type { Signal } from '../index.ts';
import { createRun } from './run.ts';

/** A counter never decreases, and does not start at 0, because the machine is not new. */
const MOST = 1e15;

/** Whole pieces that a working machine produces. @param part time between two pieces at full load */
export const pieces = ({ everyMs }: { everyMs: number }): Signal => ({
  type: 'counter',
  unit: 'count',
  range: [0, MOST],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    let total = Math.floor(random.between(0, 200_000));
    return () => {
      total += (intervalMs * run().load) / everyMs;
      return Math.floor(total);
    };
  },
});

export const starts: Signal = {
  type: 'counter',
  unit: 'count',
  range: [0, MOST],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    let [total, ran] = [Math.floor(random.between(0, 5000)), true];
    return () => {
      const { running } = run();
      if (running && !ran) total += 1;
      ran = running;
      return total;
    };
  },
};

/** Used energy. @param part watts at full load, and watts while the machine stands */
export const energy = ({ rated, idle }: { rated: number; idle: number }): Signal => ({
  type: 'energy',
  unit: 'J',
  range: [0, MOST],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    let joules = random.between(0, 1e12);
    return () => {
      joules += ((idle + rated * run().load) * intervalMs) / 1000;
      return rounded(joules, 0);
    };
  },
});

export const runningTime: Signal = {
  type: 'running-time',
  unit: 's',
  range: [0, MOST],
  create(random, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    let ms = random.between(0, 1e11);
    return () => {
      if (run().running) ms += intervalMs;
      return rounded(ms / 1000, 0);
    };
  },
};

import type { Signal } from '../index.ts';
import { createRun } from './run.ts';

/** 1 when on and 0 when off. `/` is the SenML unit for the value of a switch. */
const SWITCH = { type: 'switch', unit: '/', range: [0, 1] as [number, number] };

export const running: Signal = {
  ...SWITCH,
  create(_, intervalMs, machine) {
    const run = createRun(machine(), intervalMs);
    return () => (run().running ? 1 : 0);
  },
};

/** Lasts for a while, such as an open door or an alarm. @param shape mean time between two states, and mean duration */
export const occasional = ({ everyMs, lastsMs }: { everyMs: number; lastsMs: number }): Signal => ({
  ...SWITCH,
  create(random, intervalMs) {
    const begins = 1 - Math.exp(-intervalMs / everyMs);
    const ends = 1 - Math.exp(-intervalMs / lastsMs);
    let on = false;
    return () => {
      if (random.uniform() < (on ? ends : begins)) on = !on;
      return on ? 1 : 0;
    };
  },
});

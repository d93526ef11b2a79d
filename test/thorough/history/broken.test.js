import { expect, test } from '@jest/globals';
import { useSimulations } from '../../support/history/faults.js';

/** Something broken has to be noticed in one of so many simulations. */
const MOST_RUNS = 60;

const faultsOf = useSimulations();

test.each([
  ['late samples that are not written into history', { withoutLateRows: true }],
  ['statistics that are read before packed_until', { statisticsFirst: true }],
  ['clocks 15 minutes apart that nobody checks', { skewMs: 15 * 60_000 }],
])(
  'the simulations of history notice %s',
  async (_what, breaks) => {
    /** @type {string[]} */
    let faults = [];
    for (let run = 0; run < MOST_RUNS && faults.length === 0; run++) faults = await faultsOf(run, breaks);
    expect(faults).not.toEqual([]);
  },
  900_000,
);

import { expect, test } from '@jest/globals';
import { useMemorySimulations, useStoredSimulations } from '../../../support/history/faults.ts';

const RUNS = 5;

/** The unit tests run only a few of these simulations in memory. */
const MEMORY_RUNS = 300;

const faultsOf = useStoredSimulations();
const memoryFaultsOf = useMemorySimulations();

test.each(Array.from({ length: RUNS }, (_, run) => run))(
  'Packed history: real database, random simulation %p: exactly the acknowledged samples are read',
  async (run) => {
    expect(await faultsOf(run)).toEqual([]);
  },
);

test(`Packed history: ${MEMORY_RUNS} random simulations in memory: exactly the acknowledged samples are read`, async () => {
  for (let run = 0; run < MEMORY_RUNS; run++) expect(await memoryFaultsOf(run)).toEqual([]);
}, 600_000);

import { expect, test } from '@jest/globals';
import { useMemorySimulations } from '../../support/history/faults.ts';

/** Number of simulations of the unchanged code. */
const RUNS = 8;

const faultsOf = useMemorySimulations(24);

test('Corrections simulation: shuffled, repeated, dying processes: every reader sees the newest revisions', async () => {
  for (let run = 0; run < RUNS; run++) expect(await faultsOf(run)).toEqual([]);
});

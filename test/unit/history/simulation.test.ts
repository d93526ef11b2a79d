import { expect, test } from '@jest/globals';
import { useMemorySimulations } from '../../support/history/faults.ts';

/** The known mistakes of `test/mutation` need as many. */
const RUNS = 20;

const faultsOf = useMemorySimulations();

test('History simulation: late or repeated messages, dying packers, wrong clocks: exactly the acknowledged samples are read', async () => {
  for (let run = 0; run < RUNS; run++) expect(await faultsOf(run)).toEqual([]);
});

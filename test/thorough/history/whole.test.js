import { expect, test } from '@jest/globals';
import { useSimulations } from '../../support/history/faults.js';

const RUNS = 5;

const faultsOf = useSimulations();

test.each(Array.from({ length: RUNS }, (_, run) => run))(
  'what was acknowledged is read, and nothing else, whoever is late, packs twice, dies or reads meanwhile (%p)',
  async (run) => {
    expect(await faultsOf(run)).toEqual([]);
  },
);

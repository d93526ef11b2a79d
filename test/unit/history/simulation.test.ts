import { expect, test } from '@jest/globals';
import { firstFaults, useMemorySimulations } from '../../support/history/faults.ts';
import { HARMLESS, MISTAKES } from '../../support/history/mistakes.ts';

/** Number of simulations of the unchanged code. */
const RUNS = 8;

/** The rarest mistake shows in one of 15 simulations. All 300 miss it with a probability of 10^-9. */
const MOST_RUNS = 300;

const faultsOf = useMemorySimulations();

test('History simulation: late or repeated messages, dying packers, wrong clocks: exactly the acknowledged samples are read', async () => {
  for (let run = 0; run < RUNS; run++) expect(await faultsOf(run)).toEqual([]);
});

test.each(Object.entries(HARMLESS))(
  'History simulation: harmless fault, %s: no acknowledged sample is missing',
  async (_, mistake) => {
    for (let run = 0; run < RUNS / 2; run++) expect(await faultsOf(run, mistake)).toEqual([]);
  },
);

test.each(Object.entries(MISTAKES))(
  'History simulation: mistake, %s: a fault is found',
  async (_, mistake) => {
    expect(await firstFaults(faultsOf, mistake, MOST_RUNS)).not.toEqual([]);
  },
);

test('History simulation: two runs with an equal seed: the same faults are found', async () => {
  const mistake = MISTAKES['ingest writes no late rows'];
  expect(await faultsOf(0, mistake)).toEqual(await faultsOf(0, mistake));
});

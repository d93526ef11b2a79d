import { expect, test } from '@jest/globals';
import { firstFaults, useMemorySimulations } from '../../support/history/faults.js';
import { HARMLESS, MISTAKES } from '../../support/history/mistakes.js';

/** Simulations of the code as it is. */
const RUNS = 8;

/** A mistake that shows in one of 15 simulations, as the rarest does, escapes so many once in 10^9. */
const MOST_RUNS = 300;

const faultsOf = useMemorySimulations();

test('History: late or repeated messages, dying packers, different clocks: every acknowledged sample is read, and no other', async () => {
  for (let run = 0; run < RUNS; run++) expect(await faultsOf(run)).toEqual([]);
});

test.each(Object.entries(HARMLESS))('History: %s: nothing is missing', async (_, mistake) => {
  for (let run = 0; run < RUNS / 2; run++) expect(await faultsOf(run, mistake)).toEqual([]);
});

test.each(Object.entries(MISTAKES))('History: %s: a simulation shows it', async (_, mistake) => {
  expect(await firstFaults(faultsOf, mistake, MOST_RUNS)).not.toEqual([]);
});

test('History: a seed is given again: the simulation finds the same faults', async () => {
  const mistake = MISTAKES['ingest writes no late rows'];
  expect(await faultsOf(0, mistake)).toEqual(await faultsOf(0, mistake));
});

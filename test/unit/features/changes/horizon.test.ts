import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CommitSimulation } from '../../../support/features/changes/commit-simulation.ts';
import { runs } from '../../../support/runs.ts';

const MINUTE_MS = 60_000;

test('Readers of changes: processes pause, die, start and have wrong clocks: no acknowledged commit is missed', async () => {
  let acknowledged = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const simulation = new CommitSimulation(seed);
      simulation.start();
      simulation.start();
      for (let fault = 0; fault < 10; fault++) {
        await simulation.run(simulation.between(0, 20_000));
        simulation.disturb();
      }
      simulation.calm();
      await simulation.run(2 * MINUTE_MS);
      expect(simulation.missed).toEqual([]);
      for (const { process, until } of simulation.readers)
        if (!process.isDead) expect(until).toBeGreaterThan(simulation.now - 5000);
      acknowledged += simulation.commits.filter(({ isAcknowledged }) => isAcknowledged).length;
    }),
    // Examples: a reader pauses for 50 s within its read of the marks; two processes join at the same time, one with a slow clock.
    { numRuns: runs(10), examples: [[1126312260], [1677]] },
  );
  expect(acknowledged).toBeGreaterThan(1000);
}, 120_000);

import { beforeAll, jest } from '@jest/globals';
import { useStoredSystem } from '../system/stored.ts';
import { createStoredInstallation, prepareMemoryInstallations } from './simulated-installation.ts';
import { simulate } from './simulation.ts';

/** runs simulation number `run` of this run of jest, and returns the faults with their seed */
type FaultsOf = (run: number) => Promise<string[]>;

/** @returns with the seeds of jest, which `--seed=` repeats */
function seeded(run: (seed: number) => Promise<string[]>): FaultsOf {
  const firstSeed = jest.getSeed() >>> 0;
  return async (number) => {
    const seed = firstSeed + number;
    const faults = await run(seed);
    return faults.map((fault) => `seed ${seed} (again: --seed=${seed | 0}): ${fault}`);
  };
}

/** Runs simulations in memory, about ten each second. @param corrections in each of them */
export function useMemorySimulations(corrections: number = 0): FaultsOf {
  let createInstallation: Awaited<ReturnType<typeof prepareMemoryInstallations>>;
  beforeAll(async () => {
    createInstallation = await prepareMemoryInstallations();
  });
  return seeded(async (seed) => simulate({ installation: await createInstallation(), seed, corrections }));
}

/** Runs simulations on the real database, with the tables of a new system, which is removed after the tests of the file. */
export function useStoredSimulations(): FaultsOf {
  const stored = useStoredSystem({ settings: { LATEST_GROUPS: '1' } });
  beforeAll(async () => {
    process.stderr.write(`again with these simulations: npm run test:thorough -- --seed=${jest.getSeed()}\n`);
    // The simulations only need its tables.
    await stored.system().halt();
  });
  return seeded(async (seed) => {
    const installation = await createStoredInstallation({
      store: stored.store(),
      database: stored.database(),
    });
    return simulate({ installation, seed });
  });
}

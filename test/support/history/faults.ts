import { beforeAll, jest } from '@jest/globals';
import { useStoredSystem } from '../system/stored.ts';
import { createStoredInstallation, prepareMemoryInstallations } from './simulated-installation.ts';
import { type Mistake, simulate } from './simulation.ts';

/** runs simulation number `run` of this run of jest, and returns the faults with their seed */
type FaultsOf = (run: number, mistake?: Mistake) => Promise<string[]>;

/** @returns with the seeds of jest, which `--seed=` repeats */
function seeded(run: (seed: number, mistake?: Mistake) => Promise<string[]>): FaultsOf {
  const firstSeed = jest.getSeed() >>> 0;
  return async (number, mistake) => {
    const seed = firstSeed + number;
    const faults = await run(seed, mistake);
    return faults.map((fault) => `seed ${seed} (again: --seed=${seed | 0}): ${fault}`);
  };
}

/**
 * Simulates a mistake until a check notices it.
 * @returns faults of the first simulation with any
 * @throws {Error} with the seed, when none has any
 */
export async function firstFaults(faultsOf: FaultsOf, mistake: Mistake, maxRuns: number): Promise<string[]> {
  for (let run = 0; run < maxRuns; run++) {
    const faults = await faultsOf(run, mistake);
    if (faults.length > 0) return faults;
  }
  throw new Error(`none of ${maxRuns} simulations shows it (again: --seed=${jest.getSeed()})`);
}

/** Runs simulations in memory, about ten each second. @param corrections in each of them */
export function useMemorySimulations(corrections: number = 0): FaultsOf {
  let createInstallation: Awaited<ReturnType<typeof prepareMemoryInstallations>>;
  beforeAll(async () => {
    createInstallation = await prepareMemoryInstallations();
  });
  return seeded(async (seed, mistake) =>
    simulate({ installation: await createInstallation(), seed, mistake, corrections }),
  );
}

/** Runs simulations on the real database, with the tables of a new system, which is removed after the tests of the file. */
export function useStoredSimulations(): FaultsOf {
  const stored = useStoredSystem({ settings: { LATEST_GROUPS: '1' } });
  beforeAll(async () => {
    process.stderr.write(`again with these simulations: npm run test:thorough -- --seed=${jest.getSeed()}\n`);
    // The simulations only need its tables.
    await stored.system().halt();
  });
  return seeded(async (seed, mistake) => {
    const installation = await createStoredInstallation({
      store: stored.store(),
      database: stored.database(),
    });
    return simulate({ installation, seed, mistake });
  });
}

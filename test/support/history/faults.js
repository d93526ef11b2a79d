import { beforeAll, jest } from '@jest/globals';
import { useStoredSystem } from '../stored-system.js';
import { simulate } from './simulation.js';
import { createStoredWorld, prepareMemoryWorlds } from './world.js';

/** @import { Mistake } from './simulation.js' */

/** @typedef {(run: number, mistake?: Mistake) => Promise<string[]>} FaultsOf simulates run number `run` of this run of jest: what was wrong, each with its seed */

/** @param {(seed: number, mistake?: Mistake) => Promise<string[]>} run @returns {FaultsOf} with seeds that jest draws, and `--seed=` repeats */
function seeded(run) {
  const firstSeed = jest.getSeed() >>> 0;
  return async (number, mistake) => {
    const seed = firstSeed + number;
    const faults = await run(seed, mistake);
    return faults.map((fault) => `seed ${seed} (again: --seed=${seed | 0}): ${fault}`);
  };
}

/**
 * Simulates a mistake until it shows.
 *
 * @param {FaultsOf} faultsOf
 * @param {Mistake} mistake
 * @param {number} mostRuns
 * @returns {Promise<string[]>} what was wrong in the first simulation that shows it
 * @throws {Error} when none does, with the seed
 */
export async function firstFaults(faultsOf, mistake, mostRuns) {
  for (let run = 0; run < mostRuns; run++) {
    const faults = await faultsOf(run, mistake);
    if (faults.length > 0) return faults;
  }
  throw new Error(`none of ${mostRuns} simulations shows it (again: --seed=${jest.getSeed()})`);
}

/** Simulations in memory, some ten a second. @returns {FaultsOf} */
export function useMemorySimulations() {
  /** @type {Awaited<ReturnType<typeof prepareMemoryWorlds>>} */
  let createWorld;
  beforeAll(async () => {
    createWorld = await prepareMemoryWorlds();
  });
  return seeded(async (seed, mistake) => simulate({ world: await createWorld(), seed, mistake }));
}

/** Simulations on the real database, on the tables of a system of its own, which is taken away after the tests of the file. @returns {FaultsOf} */
export function useStoredSimulations() {
  const stored = useStoredSystem({ settings: { LATEST_GROUPS: '1' } });
  beforeAll(async () => {
    process.stderr.write(`again with these simulations: npm run test:thorough -- --seed=${jest.getSeed()}\n`);
    // Its tables are wanted; it packs nothing itself, since its clock is long before anything.
    await stored.system().halt();
  });
  return seeded(async (seed, mistake) => {
    const world = await createStoredWorld({ store: stored.store(), database: stored.database() });
    return simulate({ world, seed, mistake });
  });
}

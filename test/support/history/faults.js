import { beforeAll, jest } from '@jest/globals';
import { useStoredSystem } from '../stored-system.js';
import { simulate } from './simulation.js';
import { createWorld } from './world.js';

/**
 * Simulations on the tables of a system of its own, which is taken away after the tests of the file.
 *
 * @returns {(run: number, breaks?: import('./simulation.js').Breaks) => Promise<string[]>} simulates run number `run` of
 *   this run of jest: what was wrong, each with its seed
 */
export function useSimulations() {
  const stored = useStoredSystem({ settings: { LATEST_GROUPS: '1' } });
  // Its tables are wanted; it packs nothing itself, since its clock is long before anything.
  beforeAll(() => stored.system().halt());

  const firstSeed = jest.getSeed() >>> 0;
  return async (run, breaks) => {
    const [store, database] = [stored.store(), stored.database()];
    const seed = firstSeed + run;
    const world = await createWorld({ store, database });
    const faults = await simulate({ store, database, world, seed, breaks });
    return faults.map((fault) => `seed ${seed}: ${fault}`);
  };
}

import { afterAll, beforeAll, jest } from '@jest/globals';
import { startTestSystem } from '../system.js';
import { simulate } from './simulation.js';
import { createWorld } from './world.js';

/**
 * Simulations on the tables of a system of its own, which is taken away after the tests of the file.
 *
 * @returns {(run: number, breaks?: import('./simulation.js').Breaks) => Promise<string[]>} simulates run number `run` of
 *   this run of jest: what was wrong, each with its seed
 */
export function useSimulations() {
  /** @type {import('../system.js').TestSystem} */
  let system;
  /** @type {import('../../../api/store/index.js').Store} */
  let store;
  /** @type {import('cassandra-driver').Client} */
  let database;
  beforeAll(async () => {
    // Its tables are wanted; it packs nothing itself, since its clock is long before anything.
    system = await startTestSystem({ settings: { LATEST_GROUPS: '1' } });
    await system.halt();
    store = await system.openStore();
    database = await system.openDatabase();
  });
  afterAll(async () => {
    await store?.close();
    await database?.shutdown();
    await system?.stop();
  });

  const firstSeed = jest.getSeed() >>> 0;
  return async (run, breaks) => {
    const seed = firstSeed + run;
    const world = await createWorld({ store, database });
    const faults = await simulate({ store, database, world, seed, breaks });
    return faults.map((fault) => `seed ${seed}: ${fault}`);
  };
}

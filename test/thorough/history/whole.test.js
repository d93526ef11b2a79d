import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { simulate } from '../../support/history/simulation.js';
import { createWorld } from '../../support/history/world.js';
import { startTestSystem } from '../../support/system.js';

/** Simulations that have to go well, and that something broken gets at most to be noticed in. */
const RUNS = 5;
const MOST_RUNS = 60;

/** @type {import('../../support/system.js').TestSystem} */
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

/** @param {number} run @param {import('../../support/history/simulation.js').Breaks} [breaks] */
async function faultsOf(run, breaks) {
  const seed = firstSeed + run;
  const world = await createWorld({ store, database });
  const faults = await simulate({ store, database, world, seed, breaks });
  return faults.map((fault) => `seed ${seed}: ${fault}`);
}

test.each(Array.from({ length: RUNS }, (_, run) => run))(
  'what was acknowledged is read, and nothing else, whoever is late, packs twice, dies or reads meanwhile (%p)',
  async (run) => {
    expect(await faultsOf(run)).toEqual([]);
  },
);

describe('the same checks notice', () => {
  test.each([
    ['that late samples are not written into history', { withoutLateRows: true }],
    ['that statistics are read before packed_until', { statisticsFirst: true }],
    ['clocks 15 minutes apart that nobody checks', { skewMs: 15 * 60_000 }],
  ])(
    '%s',
    async (_what, breaks) => {
      /** @type {string[]} */
      let faults = [];
      for (let run = 0; run < MOST_RUNS && faults.length === 0; run++) faults = await faultsOf(run, breaks);
      expect(faults).not.toEqual([]);
    },
    900_000,
  );
});

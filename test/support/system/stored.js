import { afterAll, beforeAll } from '@jest/globals';
import { startTestSystem } from './index.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { Store } from '../../../api/store/index.js' */
/** @import { TestSystem } from './index.js' */

/**
 * Starts a system for the tests of a file, with a separate store and database client. All of it is removed after them.
 *
 * @param {Parameters<typeof startTestSystem>[0]} options
 */
export function useStoredSystem(options) {
  /** @type {TestSystem} */
  let system;
  /** @type {Store} */
  let store;
  /** @type {Client} */
  let database;
  beforeAll(async () => {
    system = await startTestSystem(options);
    store = await system.openStore();
    database = await system.openDatabase();
  });
  afterAll(async () => {
    await store?.close();
    await database?.shutdown();
    await system?.stop();
  });
  return { system: () => system, store: () => store, database: () => database };
}

import { beforeAll } from '@jest/globals';
import { useStore, useTestSystem } from './use.js';

/** @import { Client } from 'cassandra-driver' */

/**
 * Starts a system for the tests of a file, with a separate store and database client. All of it is removed after them.
 *
 * @param {Parameters<typeof useTestSystem>[0]} options
 */
export function useStoredSystem(options) {
  const system = useTestSystem(options);
  const store = useStore(system);
  /** @type {Client} */
  let database;
  beforeAll(async () => {
    database = await system.openDatabase();
  });
  return { system: () => system, store: () => store, database: () => database };
}

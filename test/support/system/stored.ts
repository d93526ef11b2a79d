import { beforeAll } from '@jest/globals';
import type { Client } from 'cassandra-driver';
import { useStore, useTestSystem } from './use.ts';

/**
 * Starts a system for the tests of a file, with a separate store and database client. All of it is removed after them.
 */
export function useStoredSystem(options: Parameters<typeof useTestSystem>[0]) {
  const system = useTestSystem(options);
  const store = useStore(system);
  let database: Client;
  beforeAll(async () => {
    database = await system.openDatabase();
  });
  return { system: () => system, store: () => store, database: () => database };
}

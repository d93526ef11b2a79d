import { beforeAll } from '@jest/globals';
import type { Client } from 'cassandra-driver';
import { useStore, useTestSystem } from './use.ts';

/** With a separate store and database client. */
export function useStoredSystem(options: Parameters<typeof useTestSystem>[0]) {
  const system = useTestSystem(options);
  const store = useStore(system);
  let database: Client;
  beforeAll(async () => {
    database = await system.openDatabase();
  });
  return { system: () => system, store: () => store, database: () => database };
}

import type { Client } from 'cassandra-driver';
import { createStore, type SendingHooks, type Store } from '../../../api/store/index.ts';
import { DIALECTS } from '../../../schema/migrate/files.ts';
import { PART } from '../../../schema/migrate/installation.ts';
import { BASELINE_DAYS, DEAD_LETTER_DAYS, LATE_DAY_DAYS, STREAM_NOTE_DAYS } from '../../../schema/rules.ts';
import { createDatabase } from './database.ts';
import { readTables, type Table } from './tables.ts';

const RETENTION = { latestGroups: 4, batchDays: 30, historyDays: 365 };

/**
 * Connects the whole of `api/store` to a database in memory. Its statements run unchanged, on the tables of the migrations,
 * so that tests of the code above the store take milliseconds. `test/support/store-contract` checks it and the real
 * database alike.
 */
export async function createMemoryStore(
  options: {
    /** epoch ms, for write timestamps and expiry */
    clock?: () => number;
    /** epoch ms of the first migration; default: now */
    installedAt?: number;
    retention?: Partial<typeof RETENTION>;
    /** of `readMemoryTables`, for tests that make many stores */
    tables?: Map<string, Table>;
    /** of an earlier store, whose data stay */
    database?: Client;
    /** sees each request, and may delay or fail it */
    around?: Parameters<typeof createDatabase>[0]['around'];
    /** largest congestion window; default: unbounded */
    maxInFlight?: number;
    hooks?: SendingHooks;
    openStamps?: Parameters<typeof createStore>[0]['openStamps'];
  } = {},
): Promise<MemoryStore> {
  const { clock = Date.now, installedAt = clock(), around, maxInFlight, hooks, openStamps } = options;
  const retention = { ...RETENTION, ...options.retention };
  const tables = options.tables ?? (await readMemoryTables(options.retention));
  const client = options.database ?? (createDatabase({ tables, clock, around }) as unknown as Client);
  await client.execute('INSERT INTO schema_version (part, version, name, applied_at) VALUES (?, ?, ?, ?)', [
    PART,
    1,
    'installation',
    new Date(installedAt),
  ]);
  const store = createStore({
    client,
    dialect: DIALECTS.cassandra,
    retention,
    isAuthenticated: () => false,
    maxInFlight,
    hooks,
    openStamps,
    observe: () => {},
    onStaleIndex: () => {},
    clock,
  });
  return { store, database: client };
}

/** `database` executes CQL, for tests that check the stored rows. */
export type MemoryStore = { store: Store; database: Client };

/** @returns the tables of the newest schema */
export function readMemoryTables(retention: Partial<typeof RETENTION> = {}): Promise<Map<string, Table>> {
  const { batchDays, historyDays } = { ...RETENTION, ...retention };
  return readTables({
    BATCH_DAYS: batchDays,
    HISTORY_DAYS: historyDays,
    DEAD_LETTER_DAYS,
    LATE_DAY_DAYS,
    BASELINE_DAYS,
    STREAM_NOTE_DAYS,
  });
}

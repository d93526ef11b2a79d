import { createStore } from '../../../api/store/index.js';
import { DIALECTS } from '../../../schema/migrate/files.js';
import { PART } from '../../../schema/migrate/installation.js';
import { BASELINE_DAYS, DEAD_LETTER_DAYS, LATE_DAY_DAYS, STREAM_NOTE_DAYS } from '../../../schema/rules.js';
import { createDatabase } from './database.js';
import { readTables } from './tables.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { CredentialStore } from '../../../api/store/credentials.js' */
/** @import { SendingHooks, Store } from '../../../api/store/index.js' */
/** @import { Table } from './tables.js' */

const RETENTION = { latestGroups: 4, batchDays: 30, historyDays: 365 };

/**
 * Connects the whole of `api/store` to a database in memory. Its statements run unchanged, on the tables of the migrations,
 * so that tests of the code above the store take milliseconds. `test/support/store-contract` checks it and the
 * real database alike.
 *
 * @param {object} [options]
 * @param {() => number} [options.clock] epoch ms, for write timestamps and expiry
 * @param {number} [options.installedAt] epoch ms of the first migration; default: now
 * @param {Partial<typeof RETENTION>} [options.retention]
 * @param {Map<string, Table>} [options.tables] of `readMemoryTables`, for tests that make many stores
 * @param {Client} [options.database] of an earlier store, whose data stay
 * @param {Parameters<typeof createDatabase>[0]['around']} [options.around] sees each request, and may delay or fail it
 * @param {number} [options.maxInFlight] largest congestion window; default: unbounded
 * @param {SendingHooks} [options.hooks]
 * @returns {Promise<MemoryStore>}
 */
export async function createMemoryStore(options = {}) {
  const { clock = Date.now, installedAt = clock(), around, maxInFlight, hooks } = options;
  const retention = { ...RETENTION, ...options.retention };
  const tables = options.tables ?? (await readMemoryTables(options.retention));
  const client =
    options.database ??
    /** @type {Client} */ (/** @type {unknown} */ (createDatabase({ tables, clock, around })));
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
    observe: () => {},
    onStaleIndex: () => {},
    clock,
  });
  return { store, database: client };
}

/** `database` executes CQL, for tests that check the stored rows. @typedef {{ store: Store, database: Client }} MemoryStore */

/** @param {Parameters<typeof createMemoryStore>[0]} [options] @returns {Promise<CredentialStore>} of a new database in memory */
export const createMemoryCredentials = async (options) =>
  (await createMemoryStore(options)).store.credentials;

/** @param {Partial<typeof RETENTION>} [retention] @returns {Promise<Map<string, Table>>} the tables of the newest schema */
export function readMemoryTables(retention = {}) {
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

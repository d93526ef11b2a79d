import { connect } from '../../../api/store/connect.js';
import { connectStore } from '../../../api/store/index.js';
import { PendingLatest } from '../../../api/store/latest/writes.js';
import { DDL, dialectOf } from '../../../schema/migrate/cluster.js';
import { windowOptions } from '../../../schema/migrate/files.js';
import { ROW_TABLE, withRowWrites } from './row-writes.js';

/** @import { PendingRow } from '../../../api/store/sending/pending-rows.js' */
/** @import { Config } from '../../../common/settings/config.js' */

/**
 * Creates the table of one row per sample next to the usual tables, with the TTL of messages.
 *
 * @param {Config} config configuration of an existing keyspace
 */
export async function createRowTable({ cql, retention }) {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
  try {
    const window = windowOptions(retention.batchDays, await dialectOf(client));
    await client.execute(ROW_TABLE(window), [], DDL);
  } finally {
    await client.shutdown();
  }
}

/**
 * Opens a store that does not write the table of latest values. The difference shows the cost of that table.
 *
 * @type {typeof connectStore}
 */
const connectWithoutLatest = (parts) =>
  connectStore({
    ...parts,
    hooks: {
      ...parts.hooks,
      wrapSession: (session) =>
        Object.assign(Object.create(session), {
          async writeMerged(/** @type {PendingRow<any>} */ row) {
            if (row instanceof PendingLatest) row.close();
            else await session.writeMerged(row);
          },
        }),
    },
  });

/** The stores with which ingest is measured. @type {{ packed: typeof connectStore, [name: string]: typeof connectStore }} */
export const STORES = {
  packed: connectStore,
  'no-latest': connectWithoutLatest,
  rows: (parts) => connectStore({ ...parts, hooks: { ...parts.hooks, wrapSession: withRowWrites } }),
};

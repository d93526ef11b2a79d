import { connect } from '../../../api/store/connect.js';
import { connectStore } from '../../../api/store/index.js';
import { createSession } from '../../../api/store/session.js';
import { DDL, dialectOf } from '../../../schema/migrate/cluster.js';
import { windowOptions } from '../../../schema/migrate/files.js';
import { createRowWrites, ROW_TABLE } from './row-writes.js';

/** @import { Store } from '../../../api/store/index.js' */
/** @import { Config } from '../../../common/settings/config.js' */

/**
 * Creates the table of one row per sample next to our own, with the TTL of messages.
 *
 * @param {Config} config of a keyspace that exists
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

/** @typedef {Parameters<typeof connectStore>[0]} StoreParts */

/** A table of latest values that writes nothing. It shows what the real one costs. */
const noLatest = { write: async () => {} };

/** The stores that ingest is measured with. @type {{ packed: typeof connectStore, [name: string]: typeof connectStore }} */
export const STORES = {
  packed: connectStore,
  'no-latest': async (parts) => ({ ...(await connectStore(parts)), latest: noLatest }),
  rows: withRowWrites,
};

/** @param {StoreParts} parts @returns {Promise<Store>} */
async function withRowWrites(parts) {
  const store = await connectStore(parts);
  const client = await connect(parts.cql, { keyspace: parts.cql.keyspace, applicationName: 'bench' });
  return {
    ...store,
    measurements: createRowWrites(createSession(client, parts.observe, parts.gate)),
    close: async () => {
      await Promise.all([store.close(), client.shutdown()]);
    },
  };
}

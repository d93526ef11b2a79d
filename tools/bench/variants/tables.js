import { connect } from '../../../api/store/connect.js';
import { DDL, dialectOf } from '../../../schema/migrate/cluster.js';
import { windowOptions } from '../../../schema/migrate/files.js';

/** @import { Config } from '../../../common/settings/config.js' */

/**
 * Makes tables of the baselines next to our own, with the TTL of messages.
 *
 * @param {Config} config of a keyspace that is there
 * @param {Array<(window: string) => string>} tables CQL of each, given the options of a time-window-compacted table
 */
export async function createTables({ cql, retention }, tables) {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
  try {
    const window = windowOptions(retention.batchDays, await dialectOf(client));
    for (const table of tables) await client.execute(table(window), [], DDL);
  } finally {
    await client.shutdown();
  }
}

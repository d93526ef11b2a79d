import { connect } from '../../../api/store/connect.ts';
import { connectStore } from '../../../api/store/index.ts';
import { PendingLatest } from '../../../api/store/latest/writes.ts';
import type { PendingRow } from '../../../api/store/sending/pending-rows.ts';
import type { Config } from '../../../common/settings/config.ts';
import { DDL, dialectOf } from '../../../schema/migrate/cluster.ts';
import { windowOptions } from '../../../schema/migrate/files.ts';
import { ROW_TABLE, withRowWrites } from './row-writes.ts';

/** The table stands next to the usual tables, with the TTL of messages. The keyspace must exist. */
export async function createRowTable({ cql, retention }: Config) {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
  try {
    const window = windowOptions(retention.batchDays, await dialectOf(client));
    await client.execute(ROW_TABLE(window), [], DDL);
  } finally {
    await client.shutdown();
  }
}

/** The difference shows the cost of the table of latest values. */
const connectWithoutLatest: typeof connectStore = (parts) =>
  connectStore({
    ...parts,
    hooks: {
      ...parts.hooks,
      wrapSession: (session) =>
        Object.assign(Object.create(session), {
          async writeMerged(row: PendingRow) {
            if (row instanceof PendingLatest) row.close();
            else await session.writeMerged(row);
          },
        }),
    },
  });

export const STORES: { packed: typeof connectStore; [name: string]: typeof connectStore } = {
  packed: connectStore,
  'no-latest': connectWithoutLatest,
  rows: (parts) => connectStore({ ...parts, hooks: { ...parts.hooks, wrapSession: withRowWrites } }),
};

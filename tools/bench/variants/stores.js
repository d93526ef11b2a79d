import { connect } from '../../../api/store/connect.js';
import { float64, int64 } from '../../../api/store/cql-encoding.js';
import { connectStore } from '../../../api/store/index.js';
import { PendingLatest } from '../../../api/store/latest/writes.js';
import { PendingHour } from '../../../api/store/measurements/writes.js';
import { DDL, dialectOf } from '../../../schema/migrate/cluster.js';
import { windowOptions } from '../../../schema/migrate/files.js';
import { withRowWrites } from './row-writes.js';

/** @import { PendingRow } from '../../../api/store/sending/pending-rows.js' */
/** @import { Gate, Session } from '../../../api/store/sending/session.js' */
/** @import { Client } from 'cassandra-driver' */
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

/** @param {string} window the options of a time-window-compacted table */
export const TUTORIAL_TABLE = (window) => `
CREATE TABLE IF NOT EXISTS measurement_tutorial (
  sensor_id uuid,
  ts timestamp,
  value double,
  PRIMARY KEY (sensor_id, ts)
) WITH CLUSTERING ORDER BY (ts DESC) AND ${window}`;

const INSERT = 'INSERT INTO measurement_tutorial (sensor_id, ts, value) VALUES (?, ?, ?)';

/**
 * The way of the tutorials: a partition for each sensor, a row for each sample, and all rows of a message in one logged
 * batch, whatever partitions they are of. Prepared, which the tutorials forget; routed by the first row, as the driver
 * does.
 *
 * @param {Client} client
 * @param {Gate} gate
 * @param {PendingHour} row
 */
async function writeAsTutorial(client, gate, row) {
  // A batch of the tutorial is one message's: nothing joins it while it waits.
  row.close();
  const { pieces } = row.hour;
  const queries = pieces.flatMap(({ sensor, times, values, from, to }) =>
    Array.from({ length: to - from }, (_, at) => ({
      query: INSERT,
      params: [
        sensor,
        int64(/** @type {number} */ (times[from + at])),
        float64(/** @type {number} */ (values[from + at])),
      ],
    })),
  );
  await gate.enter();
  const began = performance.now();
  try {
    await client.batch(queries, { logged: true, routingKey: /** @type {Buffer} */ (pieces[0]?.sensor) });
  } finally {
    gate.leave(began);
  }
}

/** @typedef {Parameters<typeof connectStore>[0]} StoreParts */

/** Changes how rows are written. @callback WriteRow @param {PendingRow<any>} row @param {Session} session @param {Client} client @returns {Promise<void>} */

/** Tutorials keep no table of latest values: the newest row of each sensor's partition is it. @type {WriteRow} */
const withoutLatest = async (row, session) => {
  if (row instanceof PendingLatest) row.close();
  else await session.writeMerged(row);
};

/** How else a store could write; everything before it is our own ingest. @type {{ packed: typeof connectStore, [name: string]: typeof connectStore }} */
export const STORES = {
  packed: connectStore,
  'no-latest': (parts) => connectWith(parts, withoutLatest),
  rows: (parts) => connectStore({ ...parts, hooks: { ...parts.hooks, wrapSession: withRowWrites } }),
  tutorial: (parts) =>
    connectWith(parts, (row, session, client) =>
      row instanceof PendingHour
        ? writeAsTutorial(client, gateOf(parts), row)
        : withoutLatest(row, session, client),
    ),
  'tutorial-latest': (parts) =>
    connectWith(parts, (row, session, client) =>
      row instanceof PendingHour ? writeAsTutorial(client, gateOf(parts), row) : session.writeMerged(row),
    ),
};

/** @param {StoreParts} parts @param {WriteRow} writeRow */
const connectWith = (parts, writeRow) =>
  connectStore({
    ...parts,
    hooks: {
      ...parts.hooks,
      wrapSession: (session, client) =>
        Object.assign(Object.create(session), {
          writeMerged: (/** @type {PendingRow<any>} */ row) => writeRow(row, session, client),
        }),
    },
  });

/** The caller that measures the tutorial's way bounds its requests. @param {StoreParts} parts */
function gateOf({ gate }) {
  if (!gate) throw new TypeError('the tutorial needs a gate');
  return gate;
}

import { connect } from '../../../api/store/connect.js';
import { float64, int64 } from '../../../api/store/cql-encoding.js';
import { connectStore } from '../../../api/store/index.js';
import { createSampleWrites } from '../../../api/store/measurements/writes.js';
import { createSession } from '../../../api/store/sending/session.js';
import { DDL, dialectOf } from '../../../schema/migrate/cluster.js';
import { windowOptions } from '../../../schema/migrate/files.js';
import { createRowWrites } from './row-writes.js';

/** @import { Store } from '../../../api/store/index.js' */
/** @import { SampleWrites } from '../../../api/store/measurements/writes.js' */
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
 * @param {Session} session
 * @param {Client} client
 * @param {Gate} gate
 * @returns {SampleWrites}
 */
const createTutorialWrites = (session, client, gate) => ({
  ...createSampleWrites(session),

  encode: (_device, { pieces }) =>
    pieces.flatMap(({ sensor, times, values, from, to }) =>
      Array.from({ length: to - from }, (_, at) => ({
        query: INSERT,
        params: [
          sensor,
          int64(/** @type {number} */ (times[from + at])),
          float64(/** @type {number} */ (values[from + at])),
        ],
      })),
    ),

  async commit(_device, { pieces }, take) {
    // A batch of the tutorial is one message's: nothing joins it while it waits.
    const queries = take();
    await gate.enter();
    const began = performance.now();
    try {
      await client.batch(queries, { logged: true, routingKey: /** @type {Buffer} */ (pieces[0]?.sensor) });
    } finally {
      gate.leave(began);
    }
  },
});

/** @typedef {Parameters<typeof connectStore>[0]} StoreParts */

/** Tutorials keep no table of latest values: the newest row of each sensor's partition is it. */
const noLatest = { write: async () => {} };

/** How else a store could write; everything before it is our own ingest. @type {{ packed: typeof connectStore, [name: string]: typeof connectStore }} */
export const STORES = {
  packed: connectStore,
  'no-latest': async (parts) => ({ ...(await connectStore(parts)), latest: noLatest }),
  rows: (parts) => withOwnWrites(parts, ({ session }) => ({ measurements: createRowWrites(session) })),
  tutorial: (parts) =>
    withOwnWrites(parts, ({ session, client }) => ({
      latest: noLatest,
      measurements: createTutorialWrites(session, client, gateOf(parts)),
    })),
  'tutorial-latest': (parts) =>
    withOwnWrites(parts, ({ session, client }) => ({
      measurements: createTutorialWrites(session, client, gateOf(parts)),
    })),
};

/**
 * @param {StoreParts} parts
 * @param {(own: { client: Client, session: Session }) => Partial<Store>} create
 * @returns {Promise<Store>}
 */
async function withOwnWrites(parts, create) {
  const store = await connectStore(parts);
  const client = await connect(parts.cql, { keyspace: parts.cql.keyspace, applicationName: 'bench' });
  const session = createSession(client, parts.observe, parts.gate);
  return {
    ...store,
    ...create({ client, session }),
    close: async () => {
      await Promise.all([store.close(), client.shutdown()]);
    },
  };
}

/** The caller that measures the tutorial's way bounds its requests. @param {StoreParts} parts */
function gateOf({ gate }) {
  if (!gate) throw new TypeError('the tutorial needs a gate');
  return gate;
}

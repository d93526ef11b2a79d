import { float64, int64 } from '../../../api/store/cql-encoding.js';
import { createSampleWrites } from '../../../api/store/measurements/writes.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { SampleWrites } from '../../../api/store/measurements/writes.js' */
/** @import { Gate, Session } from '../../../api/store/session.js' */

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
export const createTutorialWrites = (session, client, gate) => ({
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

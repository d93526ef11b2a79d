import { float64, int32, int64, stampOf } from './cells.js';
import { routingKey } from './routing.js';

// Cells stamped with the event time: the newest measured value wins, whatever arrives last; of two values for one
// instant the database keeps the one with the greater bytes, which is our own rule for merging.
const UPDATE =
  'UPDATE latest USING TIMESTAMP ? SET ts = ?, value = ? WHERE grp = ? AND device_id = ? AND sensor_id = ?';

/**
 * The newest value of a sensor in what is to be written.
 *
 * @typedef {object} LatestUpdate
 * @property {Buffer} device 16 bytes
 * @property {Buffer} sensor 16 bytes
 * @property {number} ts epoch ms
 * @property {number} value
 */

/** @param {import('./session.js').Session} session */
export function createLatest(session) {
  /** @type {Map<number, { cell: Buffer, routing: Buffer }>} */
  const groups = new Map();

  /** @param {number} group */
  function partitionOf(group) {
    let partition = groups.get(group);
    if (!partition) {
      const cell = int32(group);
      partition = { cell, routing: routingKey(cell) };
      groups.set(group, partition);
    }
    return partition;
  }

  return {
    /**
     * @param {number} group the partition that all of these live in
     * @param {() => LatestUpdate[]} take asked for the updates at the moment of sending
     * @returns {Promise<unknown>} settles when they are committed
     */
    write(group, take) {
      const { cell, routing } = partitionOf(group);
      const rows = () =>
        take().map(({ device, sensor, ts, value }) => ({
          query: UPDATE,
          params: [stampOf(ts), int64(ts), float64(value), cell, device, sensor],
        }));
      return session.writeBatch('write_latest', rows, routing);
    },
  };
}

/** @typedef {ReturnType<typeof createLatest>} Latest */

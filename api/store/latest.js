import { float64, int64, stampOf } from './cells.js';

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
  return {
    /**
     * @param {number} group the partition that all of these live in
     * @param {LatestUpdate[]} updates
     * @returns {Promise<void>} settles when they are committed
     */
    write: (group, updates) =>
      session.writeBatch(
        'write_latest',
        updates.map(({ device, sensor, ts, value }) => ({
          query: UPDATE,
          params: [stampOf(ts), int64(ts), float64(value), group, device, sensor],
        })),
      ),
  };
}

/** @typedef {ReturnType<typeof createLatest>} Latest */

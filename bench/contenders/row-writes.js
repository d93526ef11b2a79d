import { float64, int64 } from '../../api/store/cells.js';
import { rememberPartitions } from '../../api/store/measurements/partitions.js';
import { createSampleWrites } from '../../api/store/measurements/writes.js';

/** @param {string} window the options of a time-window-compacted table */
export const ROW_TABLE = (window) => `
CREATE TABLE IF NOT EXISTS measurement_row (
  device_id uuid,
  bucket timestamp,
  sensor_id uuid,
  ts timestamp,
  value double,
  PRIMARY KEY ((device_id, bucket), sensor_id, ts)
) WITH CLUSTERING ORDER BY (sensor_id ASC, ts DESC) AND ${window}`;

const INSERT = 'INSERT INTO measurement_row (device_id, bucket, sensor_id, ts, value) VALUES (?, ?, ?, ?, ?)';

/** What a row is reckoned with, in bytes. */
const ROW_BYTES = 40;

/**
 * One row per sample, done well: the partitions of `measurement_batch`, and a prepared, unlogged batch for each of them
 * that a message touches. It takes the place of the packed rows in our own ingest; everything else is the same.
 *
 * @param {import('../../api/store/session.js').Session} session
 * @returns {import('../../api/store/measurements/writes.js').SampleWrites}
 */
export function createRowWrites(session) {
  const partitionOf = rememberPartitions();
  return {
    ...createSampleWrites(session),
    encode(device, { bucket, pieces }) {
      const { cell, routing } = partitionOf(device, bucket);
      const queries = pieces.flatMap(({ series: { sensor, times, values }, from, to }) =>
        Array.from({ length: to - from }, (_, at) => ({
          query: INSERT,
          params: [
            device,
            cell,
            sensor,
            int64(/** @type {number} */ (times[from + at])),
            float64(/** @type {number} */ (values[from + at])),
          ],
        })),
      );
      return { bucket, routing, queries, bytes: queries.length * ROW_BYTES };
    },
  };
}

import { int32, int64 } from '../cql-encoding.js';
import { partOf } from './hours.js';

/** @import { Row, Session } from '../sending/session.js' */

const SELECT = {
  name: 'read_hour',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ?',
  // A message of 50 sensors is a row of 1 kB. Under load, waiting messages share rows of up to 32 KiB, but a device has
  // only few such rows in an hour.
  fetchSize: 500,
};
const SELECT_SINCE = {
  ...SELECT,
  name: 'read_hour_since',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ? AND ts >= ?',
};
const SELECT_PARTS = {
  name: 'read_parts',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ? LIMIT 1',
};

/**
 * Creates the reads of the table `message`. A request reads rows of one partition: an hour of a device, and one part of
 * its sensors if there are many.
 *
 * @param {Session} session
 */
export function createMessageRows(session) {
  /**
   * Finds over how many parts the sensors of the hour are spread. The numbers are in a static column of part 0, which
   * each row contains. If no row was found, the column is read alone.
   *
   * @param {Row[]} rows rows that were read from the part
   * @param {unknown[]} key
   * @param {number} part
   */
  const partsOf = async (rows, key, part) =>
    partsIn(rows.length > 0 || part > 0 ? rows : await session.all(SELECT_PARTS, key));

  return {
    /**
     * @param {Buffer} device 16 bytes
     * @param {number} bucket epoch ms
     * @param {number} part
     * @param {number} [since] epoch ms: rows whose samples are all earlier may be left out
     * @returns {Promise<{ blocks: Buffer[], parts: number[] }>} `parts`: each number of parts over which sensors of the hour
     *   were spread; only part 0 has these numbers
     */
    async read(device, bucket, part, since = bucket) {
      const key = [device, int64(bucket), int32(part)];
      const rows =
        since > bucket
          ? await session.all(SELECT_SINCE, [...key, int64(since)])
          : await session.all(SELECT, key);
      return {
        blocks: blocksOf(rows),
        parts: since > bucket ? await partsOf(rows, key, part) : partsIn(rows),
      };
    },

    /**
     * @param {Buffer} device 16 bytes
     * @param {number} bucket epoch ms
     * @param {number} part
     * @param {string} [after] `next` of the previous page
     * @returns {Promise<{ blocks: Buffer[], parts: number[], next: string | undefined }>} a page; `parts` as for `read`
     */
    async page(device, bucket, part, after) {
      const { rows, next } = await session.page(SELECT, [device, int64(bucket), int32(part)], after);
      return { blocks: blocksOf(rows), parts: partsIn(rows), next };
    },
  };
}

/** @typedef {ReturnType<typeof createMessageRows>} MessageRows */

/** @param {Row[]} rows @returns {number[]} */
const partsIn = ([first]) => first?.['parts'] ?? [];

/**
 * Returns the blocks of rows. A partition that has only the static column is returned as one row without samples.
 *
 * @param {Row[]} rows
 * @returns {Buffer[]}
 */
const blocksOf = (rows) => rows.map((row) => row['samples']).filter((blob) => blob !== null);

/**
 * @param {number[]} parts each number of parts over which sensors of the hour were spread
 * @param {Uint8Array} sensor 16 bytes
 * @returns {number[]} parts that may have samples of the sensor, in addition to part 0
 */
export const partsOfSensor = (parts, sensor) => [...new Set(parts.map((count) => partOf(sensor, count)))];

/**
 * @param {number[]} parts each number of parts over which sensors of the hour were spread
 * @returns {number[]} all parts of the hour except part 0
 */
export const allParts = (parts) => Array.from({ length: Math.max(0, ...parts) }, (_, index) => index + 1);

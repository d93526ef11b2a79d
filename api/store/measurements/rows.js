import { visitBlock } from '../../../schema/packed/block.js';
import { bucketOf } from '../../../schema/rules.js';
import { int32, int64 } from '../cql-encoding.js';
import { partOf } from './hours.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Row, Session } from '../sending/session.js' */

const SELECT = {
  name: 'read_hour',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ?',
  // A message of 50 sensors is a row of 1 kB. Devices whose messages wait write blocks of 32 KiB, but only
  // few in an hour.
  fetchSize: 500,
};
const SELECT_SINCE = {
  ...SELECT,
  name: 'read_hour_since',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ? AND ts >= ?',
};
const SELECT_NEWEST = {
  ...SELECT,
  name: 'read_newest',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ? AND ts >= ? AND ts < ? LIMIT ?',
};
const SELECT_PARTS = {
  name: 'read_parts',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ? LIMIT 1',
};

/**
 * The rows of an hour of a device, partition by partition.
 *
 * @param {Session} session
 */
export function createMessageRows(session) {
  /**
   * Finds the numbers of parts, which are in a static column. The column comes with any row. If no row is new
   * enough, the column is read alone.
   *
   * @param {Row[]} rows of a part of the hour
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
     * @returns {Promise<{ blocks: Buffer[], parts: number[] }>} `parts`: in part 0, every number of parts
     *   over which the hour is spread
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
     * Reads the newest rows in a part of an hour. The newest sample of each row decides its order.
     *
     * @param {Buffer} device 16 bytes
     * @param {number} part
     * @param {{ from: number, to: number }} stretch epoch ms, within one hour
     * @param {number} limit of rows
     * @returns {Promise<{ blocks: Buffer[], parts: number[] }>} `parts`: in part 0, every number of parts
     *   over which the hour is spread
     */
    async newest(device, part, { from, to }, limit) {
      const key = [device, int64(bucketOf(from)), int32(part)];
      const rows = await session.all(SELECT_NEWEST, [...key, int64(from), int64(to), int32(limit)]);
      return { blocks: blocksOf(rows), parts: await partsOf(rows, key, part) };
    },

    /**
     * @param {Buffer} device 16 bytes
     * @param {number} bucket epoch ms
     * @param {number} part
     * @param {string} [after]
     * @returns {Promise<{ blocks: Buffer[], parts: number[], next: string | undefined }>} a page
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
 * A partition with only the static column is one row without samples.
 *
 * @param {Row[]} rows
 * @returns {Buffer[]}
 */
const blocksOf = (rows) => rows.map((row) => row['samples']).filter((blob) => blob !== null);

/**
 * @param {number[]} parts numbers of parts over which an hour is spread
 * @param {Uint8Array} sensor 16 bytes
 * @returns {number[]} parts that may have its samples, in addition to part 0
 */
export const partsOfSensor = (parts, sensor) => [...new Set(parts.map((count) => partOf(sensor, count)))];

/**
 * @param {number[]} parts numbers of parts over which an hour is spread
 * @returns {number[]} all of these parts, without part 0
 */
export const allParts = (parts) => Array.from({ length: Math.max(0, ...parts) }, (_, index) => index + 1);

/**
 * @param {number} bucket epoch ms
 * @param {Buffer[]} blocks
 * @param {Buffer} sensor 16 bytes
 * @returns {Series[]} samples of the sensor, each series sorted
 * @throws {RangeError} when one of the blocks is no block of samples of one hour
 */
export function samplesOf(bucket, blocks, sensor) {
  /** @type {Series[]} */
  const found = [];
  for (const blob of blocks) {
    visitBlock(bucket, blob, (id, series) => {
      if (sensor.equals(id)) found.push(series());
    });
  }
  return found;
}

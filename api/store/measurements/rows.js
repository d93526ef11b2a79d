import { visitBlock } from '../../../schema/packed/block.js';
import { bucketOf } from '../../../schema/rules.js';
import { int32, int64 } from '../cql-encoding.js';
import { partOf } from './hours.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Row, Session } from '../sending/session.js' */

const SELECT = {
  name: 'read_hour',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ?',
  // A message of 50 sensors is a row of 1 kB. Blocks of 32 KiB come from devices whose messages wait, few to an hour.
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
   * The static column comes with a row. Where no row is new enough, it is read alone.
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
     * @param {number} [since] epoch ms: rows without a sample from then on may be left out
     * @returns {Promise<{ blocks: Buffer[], parts: number[] }>} `parts`: of part 0, every number of parts that the hour is spread over
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
     * The newest rows of a stretch of an hour, by the newest sample of each.
     *
     * @param {Buffer} device 16 bytes
     * @param {number} part
     * @param {{ from: number, to: number }} stretch epoch ms, within one hour
     * @param {number} limit of rows
     * @returns {Promise<{ blocks: Buffer[], parts: number[] }>} `parts`: of part 0, every number of parts that the hour is spread over
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

/** A partition that has the static column alone is one row without samples. @param {Row[]} rows @returns {Buffer[]} */
const blocksOf = (rows) => rows.map((row) => row['samples']).filter((blob) => blob !== null);

/** @param {number[]} parts the numbers of parts that an hour is spread over @param {Uint8Array} sensor 16 bytes @returns {number[]} where its samples may be, besides part 0 */
export const partsOfSensor = (parts, sensor) => [...new Set(parts.map((count) => partOf(sensor, count)))];

/** @param {number[]} parts the numbers of parts that an hour is spread over @returns {number[]} all of these parts, besides part 0 */
export const allParts = (parts) => Array.from({ length: Math.max(0, ...parts) }, (_, index) => index + 1);

/**
 * @param {number} bucket epoch ms
 * @param {Buffer[]} blocks
 * @param {Buffer} sensor 16 bytes
 * @returns {Series[]} its samples, each series sorted
 * @throws {RangeError} when one is no block of samples of one hour
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

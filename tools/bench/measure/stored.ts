import { connect } from '../../../api/store/connect.js';
import { forEachConcurrently } from '../../../common/concurrency.js';
import { identifyDevice } from '../../../schema/ids.js';
import { visitBlock } from '../../../schema/packed/block.js';
import { bucketOf, HOUR_MS } from '../../../schema/rules.js';
import { deviceName } from '../load/payloads.js';

/** @import { Environment } from '../environment/index.js' */
/** @import { Config } from '../../../common/settings/config.js' */

const SELECT = 'SELECT samples FROM message WHERE device_id = ? AND bucket = ? AND part = 0';

/** Number of partitions that are read concurrently. */
const AT_ONCE = 16;

/**
 * The devices from number `first` (default 0), and the hours from `from` to `to` in epoch ms.
 *
 * @typedef {{ first?: number, devices: number, from: number, to: number }} Range
 */

/**
 * Counts the samples in the database itself, independently of the metrics of ingest.
 *
 * @param {Config['cql']} cql
 * @param {Range} range
 * @returns {Promise<number>} number of stored samples; no load publishes a time twice
 */
export async function storedSamples(cql, range) {
  let samples = 0;
  await visitStored(cql, range, (_, times) => {
    samples += times.length;
  });
  return samples;
}

/**
 * Reads the samples of messages from the database itself.
 *
 * @param {Config['cql']} cql
 * @param {Range} range
 * @param {(device: number, times: ArrayLike<number>) => void} visit called for each sensor of each row; times in epoch ms
 */
export async function visitStored(cql, range, visit) {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
  /** @param {number} number @param {number} bucket */
  async function visitPartition(number, bucket) {
    const params = [identifyDevice(deviceName(number))?.bytes, new Date(bucket)];
    for await (const row of await client.execute(SELECT, params, { fetchSize: 500 })) {
      visitBlock(bucket, row['samples'], (_, series) => visit(number, series().times));
    }
  }
  try {
    await forEachConcurrently(AT_ONCE, partitionsOf(range), ({ number, bucket }) =>
      visitPartition(number, bucket),
    );
  } finally {
    await client.shutdown();
  }
}

/** @param {Range} range */
function* partitionsOf({ first = 0, devices, from, to }) {
  for (let bucket = bucketOf(from); bucket <= to; bucket += HOUR_MS) {
    for (let number = first; number < first + devices; number++) yield { number, bucket };
  }
}

/**
 * Returns the bytes on disk after a flush and a compaction, as Cassandra counts them.
 *
 * @param {Environment} environment
 * @param {string} keyspace
 * @param {string[]} tables
 * @returns {Promise<Record<string, number>>} bytes by table, including indexes and filters
 * @throws {TypeError} for a database that the bench did not start
 */
export async function tableBytes({ nodetool }, keyspace, tables) {
  if (!nodetool)
    throw new TypeError('nodetool counts bytes on disk, only of a database that the bench started');
  await nodetool(['flush', keyspace, ...tables]);
  await nodetool(['compact', keyspace, ...tables]);
  const stats = JSON.parse(await nodetool(['tablestats', '-F', 'json', keyspace]));
  return Object.fromEntries(
    tables.map((table) => [table, Number(stats[keyspace].tables[table].space_used_live)]),
  );
}

import { connect } from '../../../api/store/connect.ts';
import { forEachConcurrently } from '../../../common/concurrency.ts';
import type { Config } from '../../../common/settings/config.ts';
import { identifyDevice } from '../../../schema/ids.ts';
import { visitBlock } from '../../../schema/packed/block.ts';
import { bucketOf, HOUR_MS } from '../../../schema/rules.ts';
import type { Environment } from '../environment/index.ts';
import { deviceName } from '../load/payloads.ts';

const SELECT = 'SELECT samples FROM message WHERE device_id = ? AND bucket = ? AND part = 0';

const AT_ONCE = 16;

/** `first`: number of the first device (default 0); `from`, `to`: epoch ms */
type Range = { first?: number; devices: number; from: number; to: number };

/** Counts in the database itself, independently of the metrics of ingest. No load publishes a time twice. */
export async function storedSamples(cql: Config['cql'], range: Range): Promise<number> {
  let samples = 0;
  await visitStored(cql, range, (_, times) => {
    samples += times.length;
  });
  return samples;
}

/** @param visit called for each sensor of each row; times in epoch ms */
export async function visitStored(
  cql: Config['cql'],
  range: Range,
  visit: (device: number, times: ArrayLike<number>) => void,
) {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
  async function visitPartition(number: number, bucket: number) {
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

function* partitionsOf({ first = 0, devices, from, to }: Range) {
  for (let bucket = bucketOf(from); bucket <= to; bucket += HOUR_MS) {
    for (let number = first; number < first + devices; number++) yield { number, bucket };
  }
}

/**
 * Bytes after a flush and a compaction, as Cassandra counts them, including indexes and filters.
 * @throws {TypeError} for a database that the bench did not start
 */
export async function tableBytes(
  { nodetool }: Environment,
  keyspace: string,
  tables: string[],
): Promise<Record<string, number>> {
  if (!nodetool)
    throw new TypeError('nodetool counts bytes on disk, only of a database that the bench started');
  await nodetool(['flush', keyspace, ...tables]);
  await nodetool(['compact', keyspace, ...tables]);
  const stats = JSON.parse(await nodetool(['tablestats', '-F', 'json', keyspace]));
  return Object.fromEntries(
    tables.map((table) => [table, Number(stats[keyspace].tables[table].space_used_live)]),
  );
}

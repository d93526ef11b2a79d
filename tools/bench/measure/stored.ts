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

/** `from`, `to`: epoch ms */
type Range = { devices: number; from: number; to: number };

/** Counts in the database itself, independently of the metrics of ingest. No load publishes a time twice. */
export async function storedSamples(cql: Config['cql'], range: Range): Promise<number> {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
  let samples = 0;
  try {
    await forEachConcurrently(AT_ONCE, partitionsOf(range), async ({ number, bucket }) => {
      const params = [identifyDevice(deviceName(number))?.bytes, new Date(bucket)];
      for await (const row of await client.execute(SELECT, params, { fetchSize: 500 })) {
        visitBlock(bucket, row['samples'], (_, series) => {
          samples += series().times.length;
        });
      }
    });
    return samples;
  } finally {
    await client.shutdown();
  }
}

function* partitionsOf({ devices, from, to }: Range) {
  for (let bucket = bucketOf(from); bucket <= to; bucket += HOUR_MS) {
    for (let number = 0; number < devices; number++) yield { number, bucket };
  }
}

/**
 * Bytes after a flush and a compaction, as Cassandra counts them, including indexes and filters.
 * @throws {TypeError} for a database that the bench did not start
 */
export async function tableBytes(
  { database: { nodetool } }: Environment,
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

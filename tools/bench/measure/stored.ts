import type { Environment } from '../environment/index.ts';

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

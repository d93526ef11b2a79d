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

/** Of all tables of all variants. */
export async function diskBytes({ database: { nodetool } }: Environment): Promise<number> {
  if (!nodetool) return Number.NaN;
  const stats: Record<string, { tables?: Record<string, { space_used_total: string }> }> = JSON.parse(
    await nodetool(['tablestats', '-F', 'json']),
  );
  const tables = Object.values(stats).flatMap((keyspace) => Object.values(keyspace.tables ?? {}));
  return tables.reduce((sum, table) => sum + Number(table.space_used_total), 0);
}

export async function compactions({ database: { nodetool } }: Environment) {
  const text = (await nodetool?.(['compactionstats'])) ?? '';
  const count = (name: string) => Number(new RegExp(`${name}\\W+(\\d+)`).exec(text)?.[1]);
  return { completed: count('compactions completed'), pending: count('pending tasks') };
}

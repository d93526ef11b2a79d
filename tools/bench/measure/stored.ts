import type { Environment } from '../environment/index.ts';

type TableStats = { space_used_live: string; space_used_total: string };

/**
 * Bytes after a flush and a compaction, as Cassandra counts them, including indexes and filters.
 * @throws {TypeError} for a database that the bench did not start
 */
export async function tableBytes(
  environment: Environment,
  keyspace: string,
  tables: string[],
): Promise<Record<string, number>> {
  const nodetool = nodetoolOf(environment);
  await nodetool(['flush', keyspace, ...tables]);
  await nodetool(['compact', keyspace, ...tables]);
  const stats = await statsOf(environment, keyspace);
  return Object.fromEntries(tables.map((table) => [table, Number(stats[table]?.space_used_live)]));
}

/** Bytes of a keyspace as they are, and its compactions. @throws {TypeError} for a database that the bench did not start */
export async function storageOf(environment: Environment, keyspace: string) {
  const tables = Object.values(await statsOf(environment, keyspace));
  const bytes = tables.reduce((sum, table) => sum + Number(table.space_used_total), 0);
  const text = await nodetoolOf(environment)(['compactionstats']);
  const count = (name: string) => Number(new RegExp(`${name}\\W+(\\d+)`).exec(text)?.[1]);
  return {
    bytes,
    compactions: { completed: count('compactions completed'), pending: count('pending tasks') },
  };
}

async function statsOf(environment: Environment, keyspace: string): Promise<Record<string, TableStats>> {
  const json = await nodetoolOf(environment)(['tablestats', '-F', 'json', keyspace]);
  return JSON.parse(json)[keyspace].tables;
}

function nodetoolOf({ database: { nodetool } }: Environment) {
  if (nodetool) return nodetool;
  throw new TypeError('nodetool counts bytes on disk, only of a database that the bench started');
}

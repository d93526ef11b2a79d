import { readMigrations } from '../../schema/migrate/files.ts';
import type { Given } from './flags.ts';
import { here, type Step } from './plan.ts';
import { managed, sctool } from './steps/manager.ts';
import { restarted } from './steps/nodes.ts';
import { SERVICE } from './steps/service.ts';
import { command } from './steps/shell.ts';
import { expectAllStopped } from './steps/stopped.ts';

/** A node has the whole schema after its restart. All nodes have the data after a repair. */
export async function byManager(given: Given): Promise<Step[]> {
  const [cluster, nodes, { tag, keyspace }] = [given.need('cluster'), given.need('nodes'), given];
  const from = ['-L', given.need('location'), '-T', tag];
  const service = { ...given.commands(SERVICE.scylla), within: given.within };
  const type = 'restore' as const;
  return [
    here(
      'the backup is there, and every node reaches it',
      sctool('restore', '-c', cluster, ...from, '--restore-schema', '--dry-run'),
    ),
    expectAllStopped(keyspace),
    ...managed('the schema', {
      cluster,
      type,
      name: `millrace-schema-${tag}`,
      words: [...from, '--restore-schema'],
    }),
    ...nodes.flatMap((node) => restarted(node, nodes, service)),
    // A supervisor may have restarted the processes, because the schema exists again.
    expectAllStopped(keyspace),
    ...managed('the data', {
      cluster,
      type,
      name: `millrace-tables-${tag}`,
      words: [...from, '--restore-tables', '-K', keyspace],
    }),
    ...managed('every replica gets it', {
      cluster,
      type: 'repair',
      name: `millrace-restored-${tag}`,
      words: ['-K', keyspace],
    }),
    here('sets tombstone_gc as before: Manager turned it off for the restore', await collected(keyspace)),
  ];
}

/** Restores the tombstone settings of all tables. */
async function collected(keyspace: string): Promise<string> {
  const text = (await readMigrations()).map((migration) => migration.text).join('\n');
  const tables = [...text.matchAll(/CREATE TABLE IF NOT EXISTS (\w+) \(([^;]*);/g)];
  const kept = [...text.matchAll(/ALTER TABLE (\w+) WITH \$\{keepTombstones\}/g)].map(([, name]) => name);
  const statements = tables.map(([, name, rest]) => {
    const windowed = kept.includes(name) ? 'timeout' : 'immediate';
    const mode = rest?.includes('${window(') ? windowed : 'repair';
    return `ALTER TABLE ${keyspace}.${name} WITH tombstone_gc = {'mode': '${mode}'}`;
  });
  return command('node', 'infra/operations/steps/alter.ts', ...statements);
}

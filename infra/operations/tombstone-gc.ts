import { runCommand } from '../../common/command.ts';
import { readMigrations } from '../../schema/migrate/files.ts';

// Prints the statements that set tombstone_gc of all tables as the schema has it. ScyllaDB Manager turns it off for a restore.
await runCommand(async () => {
  const { CQL_KEYSPACE: keyspace = 'iot' } = process.env;
  const text = (await readMigrations()).map((migration) => migration.text).join('\n');
  const kept = [...text.matchAll(/ALTER TABLE (\w+) WITH \$\{keepTombstones\}/g)].map(([, name]) => name);
  for (const [, name, rest] of text.matchAll(/CREATE TABLE IF NOT EXISTS (\w+) \(([^;]*);/g)) {
    const windowed = kept.includes(name) ? 'timeout' : 'immediate';
    const mode = rest?.includes('${window(') ? windowed : 'repair';
    console.log(`ALTER TABLE ${keyspace}.${name} WITH tombstone_gc = {'mode': '${mode}'};`);
  }
});

import { readdirSync, readFileSync } from 'node:fs';

const MIGRATIONS = new URL('../../schema/migrations/', import.meta.url);

const INTRODUCTION = `# Tables

All tables are in the keyspace \`CQL_KEYSPACE\` (default \`iot\`). \`npm run migrate\` creates them, and each process compares their version when it
starts. The statements are valid for ScyllaDB and Cassandra. [Data model](../explanation/data-model.md) explains the tables, and
[packed form](packed-form.md) describes the bytes of \`samples\`.

\`\${window(DAYS)}\` stands for time-window compaction and a default time to live, both calculated from that setting.
\`\${keepTombstones}\` stands for the options of a table with deletions: each replica keeps a deletion for ten days.

This page is generated from \`schema/migrations\` by \`npm run docs:reference\`.
`;

/** All migrations in their order. */
export const tablesPage = (): string =>
  [
    INTRODUCTION,
    ...readdirSync(MIGRATIONS)
      .sort()
      .map(
        (name) =>
          `## ${titleOf(name)}\n\n\`\`\`sql\n${readFileSync(new URL(name, MIGRATIONS), 'utf8').trim()}\n\`\`\`\n`,
      ),
  ].join('\n');

const titleOf = (name: string) =>
  name.replace(
    /^(\d+)-(.*)\.cql$/,
    (_, number, subject) => `${Number(number)}. ${subject.replaceAll('-', ' ')}`,
  );

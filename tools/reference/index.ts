import { writeFileSync } from 'node:fs';
import { runCommand } from '../../common/command.ts';
import { parseFlags } from '../../common/flags.ts';
import { envExample, settingsPage } from '../../common/settings/documents.ts';
import { kafkaTopics } from './kafka-topics.ts';
import { tablesPage } from './tables.ts';

const ROOT = new URL('../../', import.meta.url);

/** The generated documents by path. Tests compare each document with its source. */
const DOCUMENTS = {
  '.env.example': envExample,
  'docs/reference/settings.md': settingsPage,
  'docs/reference/tables.md': tablesPage,
  'docs/reference/kafka-topics.asyncapi.json': kafkaTopics,
};

await runCommand(async () => {
  parseFlags(
    {
      command: 'npm run docs:reference --',
      help: 'Writes .env.example, the pages of settings and tables, and the topics of Kafka from the code.',
      examples: ['npm run docs:reference'],
      flags: {},
    },
    process.argv.slice(2),
  );
  for (const [path, write] of Object.entries(DOCUMENTS)) {
    writeFileSync(new URL(path, ROOT), write());
    console.log(`${path} is written`);
  }
});

import { writeFileSync } from 'node:fs';
import { SETTINGS_GROUPS } from '../../api/features/index.ts';
import { runCommand } from '../../common/command.ts';
import { parseFlags } from '../../common/flags.ts';
import { envExample } from '../../common/settings/documents.ts';
import { kafkaTopics } from './kafka-topics.ts';
import { webTypeFiles } from './web-types.ts';

const ROOT = new URL('../../', import.meta.url);

const DOCUMENTS = {
  '.env.example': () => envExample(SETTINGS_GROUPS),
  'docs/reference/kafka-topics.asyncapi.json': kafkaTopics,
  ...webTypeFiles(),
};

await runCommand(async () => {
  parseFlags(
    {
      command: 'npm run docs:reference --',
      help: 'Writes .env.example, the topics of Kafka, and the types of the dashboard from the code.',
      examples: ['npm run docs:reference'],
      flags: {},
    },
    process.argv.slice(2),
  );
  for (const [path, write] of Object.entries(DOCUMENTS)) {
    writeFileSync(new URL(path, ROOT), await write());
    console.log(`${path} is written`);
  }
});

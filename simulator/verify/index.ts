import { runCommand } from '../../common/command.ts';
import { readCommandSettings } from '../../common/dev-addresses.ts';
import { createStatusLine } from '../../common/status-line.ts';
import { compareCommand } from './command.ts';
import { openStore } from './compare.ts';

await runCommand(() =>
  compareCommand(process.argv.slice(2), {
    readSettings: () => readCommandSettings('database', { further: ['STREAM_KAFKA'] }),
    openStore,
    // A dynamic import: a comparison with the database needs no Kafka client.
    readTopics: async (...args) => (await import('./topic.ts')).readTopics(...args),
    print: (text) => console.log(text),
    statusLine: createStatusLine(process.stderr),
  }),
);

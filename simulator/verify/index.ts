import { runCommand } from '../../common/command.js';
import { readCommandSettings } from '../../common/dev-addresses.js';
import { createStatusLine } from '../../common/status-line.js';
import { compareCommand } from './command.js';
import { openStore } from './compare.js';

// Runs the command `npm run compare`.
await runCommand(() =>
  compareCommand(process.argv.slice(2), {
    readSettings: () => readCommandSettings('database'),
    openStore,
    // A dynamic import: a comparison with the database needs no Kafka client.
    readTopics: async (...args) => (await import('./topic.js')).readTopics(...args),
    print: (text) => console.log(text),
    statusLine: createStatusLine(process.stderr),
  }),
);

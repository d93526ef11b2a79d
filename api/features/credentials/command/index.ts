import { runCommand } from '../../../../common/command.ts';
import { readCommandSettings } from '../../../../common/dev-addresses.ts';
import { connectStore } from '../../../store/index.ts';
import { credentialsCommand } from './command.ts';

// npm run credentials: it connects to the database with the settings of npm start, so it also works while no other process runs.
await runCommand(async () => {
  // The program that reads the output, such as head, may close the pipe early.
  process.stdout.on('error', () => process.exit());
  await credentialsCommand(process.argv.slice(2), {
    readSettings: () => readCommandSettings('database'),
    connect: connectStore,
    print: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
  });
});

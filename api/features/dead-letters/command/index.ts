import { runCommand } from '../../../../common/command.ts';
import { readCommandSettings } from '../../../../common/dev-addresses.ts';
import { createStatusLine, type StatusLine } from '../../../../common/status-line.ts';
import { openDatabase } from '../../../database.ts';
import { createIngest, type Ingest } from '../../../ingest/index.ts';
import { createContext, createLogger } from '../../../observability/index.ts';
import type { Store } from '../../../store/index.ts';
import { ingestSlots } from '../../index.ts';
import { createDeadLetterReads, type DeadLetterReads } from '../store.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { list, summary } from './list.ts';
import { replay } from './replay.ts';
import { show } from './show.ts';

export interface CommandParts {
  store: Store;
  reads: DeadLetterReads;
  /** pipeline that is not started */
  ingest: Ingest;
  given: Arguments;
  print: (text: string) => void;
  statusLine: StatusLine;
}

const COMMANDS = { list, summary, show, replay };

// npm run dead-letters: it connects to the database with the settings of npm start, so it also works while no other process
// runs. It shows the complete content of a dead letter. A replay writes like an additional ingest process.
await runCommand(async () => {
  const given = readArguments(process.argv.slice(2), Date.now());
  const config = readCommandSettings('database');
  // The program that reads the output, such as head, may close the pipe early.
  process.stdout.on('error', () => process.exit());
  const statusLine = createStatusLine(process.stderr);
  const print = (text: string) => {
    statusLine.clear();
    process.stdout.write(`${text}\n`);
  };
  const context = createContext({ config, version: '', logger: createLogger('silent') });
  const slots = ingestSlots(config);
  const database = await openDatabase(context, slots);
  const { store } = database;
  const ingest = createIngest(context, { ...database, ...slots });
  try {
    await COMMANDS[given.command]({
      store,
      reads: createDeadLetterReads(store),
      ingest,
      given,
      print,
      statusLine,
    });
  } finally {
    statusLine.clear();
    await store.close();
  }
});

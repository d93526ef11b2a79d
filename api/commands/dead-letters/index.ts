import { runCommand } from '../../../common/command.js';
import { readCommandSettings } from '../../../common/dev-addresses.js';
import { createStatusLine } from '../../../common/status-line.js';
import { openDatabase } from '../../database.js';
import { createIngest } from '../../ingest/index.js';
import { createContext, createLogger } from '../../observability/index.js';
import { readArguments } from './arguments.js';
import { list, summary } from './list.js';
import { replay } from './replay.js';
import { show } from './show.js';

/** @import { StatusLine } from '../../../common/status-line.js' */
/** @import { Ingest } from '../../ingest/index.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { Arguments } from './arguments.js' */

/**
 * The parameters of each command.
 *
 * @typedef {object} CommandParts
 * @property {Store} store
 * @property {Ingest} ingest pipeline that is not started yet
 * @property {Arguments} given
 * @property {(text: string) => void} print writes a line of the answer
 * @property {StatusLine} statusLine
 */

const COMMANDS = { list, summary, show, replay };

// npm run dead-letters: it connects to the database with the settings of npm start, so it also works while no other process
// runs. It shows the complete content of a dead letter. A replay writes like an additional ingest process.
await runCommand(async () => {
  const given = readArguments(process.argv.slice(2), Date.now());
  const config = readCommandSettings('database');
  // The program that reads the output, such as head, may close the pipe early.
  process.stdout.on('error', () => process.exit());
  const statusLine = createStatusLine(process.stderr);
  const print = (/** @type {string} */ text) => {
    statusLine.clear();
    process.stdout.write(`${text}\n`);
  };
  const context = createContext({ config, version: '', logger: createLogger('silent') });
  const database = await openDatabase(context);
  const { store } = database;
  const ingest = createIngest(context, database);
  try {
    await COMMANDS[given.command]({ store, ingest, given, print, statusLine });
  } finally {
    statusLine.clear();
    await store.close();
  }
});

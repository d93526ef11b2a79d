import { runCommand } from '../../../common/command.js';
import { readCommandSettings } from '../../../common/dev-addresses.js';
import { createStatusLine } from '../../../common/status-line.js';
import { connectPipeline } from '../../ingest/connect.js';
import { createLogger } from '../../observability/logger.js';
import { readArguments } from './arguments.js';
import { list } from './list.js';
import { replay } from './replay.js';
import { show } from './show.js';
import { summary } from './summary.js';

/** @import { StatusLine } from '../../../common/status-line.js' */
/** @import { Ingest } from '../../ingest/index.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { Arguments } from './arguments.js' */

/**
 * What the commands are made of.
 *
 * @typedef {object} CommandParts
 * @property {Store} store
 * @property {Ingest} ingest not started
 * @property {Arguments} given
 * @property {(text: string) => void} say a line of the answer
 * @property {StatusLine} statusLine
 */

const COMMANDS = { list, summary, show, replay };

// npm run dead-letters: at the database itself, by the settings of npm start. So it works where no process serves HTTP,
// or none runs at all, and shows the whole of a letter. A replay writes as one more ingest process would.
await runCommand(async () => {
  const given = readArguments(process.argv.slice(2), Date.now());
  const config = readCommandSettings('database');
  // Whoever reads along, such as head, may have seen enough.
  process.stdout.on('error', () => process.exit());
  const statusLine = createStatusLine(process.stderr);
  const say = (/** @type {string} */ text) => {
    statusLine.clear();
    process.stdout.write(`${text}\n`);
  };
  const { store, ingest } = await connectPipeline({ config, version: '', logger: createLogger('silent') });
  try {
    await COMMANDS[given.command]({ store, ingest, given, say, statusLine });
  } finally {
    statusLine.clear();
    await store.close();
  }
});

import { runCommand } from '../../common/command.js';
import { readSettings } from '../../common/settings/index.js';
import { createStatusLine } from '../../common/status-line.js';
import { createLogger } from '../logger.js';
import { connectPipeline } from '../pipeline.js';
import { readArguments } from './arguments.js';
import { list } from './list.js';
import { replay } from './replay.js';
import { show } from './show.js';
import { summary } from './summary.js';

/**
 * What the commands are made of.
 *
 * @typedef {object} CommandParts
 * @property {import('../store/index.js').Store} store
 * @property {import('../ingest/index.js').Ingest} ingest not started
 * @property {import('./arguments.js').Arguments} given
 * @property {(text: string) => void} say a line of the answer
 * @property {import('../../common/status-line.js').StatusLine} statusLine
 */

const COMMANDS = { list, summary, show, replay };

// npm run dead-letters: at the database itself, by the settings of npm start. So it works where no process serves HTTP,
// or none runs at all, and shows the whole of a letter. A replay writes as one more ingest process would.
await runCommand(async () => {
  const given = readArguments(process.argv.slice(2), Date.now());
  const config = readSettings();
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

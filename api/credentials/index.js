import { runCommand } from '../../common/command.js';
import { readSettings } from '../../common/settings/index.js';
import { connectStore } from '../store/index.js';
import { readArguments } from './arguments.js';
import { issue, list, revoke, rotate } from './commands.js';
import { createKeeper } from './keeper.js';
import { mosquitto } from './mosquitto.js';

/**
 * What the commands are made of.
 *
 * @typedef {object} CommandParts
 * @property {import('./keeper.js').Keeper} keeper
 * @property {import('./arguments.js').Arguments} given
 * @property {{ username?: string | undefined, password?: string | undefined }} installation its own account
 * @property {boolean} autoRegister whether devices register by their first message
 * @property {(text: string) => void} say a line of the answer
 * @property {(text: string) => void} note a line for a person, which is no part of the answer
 */

const COMMANDS = { issue, list, rotate, revoke, mosquitto };

// npm run credentials: at the database itself, by the settings of npm start. So it works while nothing else runs, too.
await runCommand(async () => {
  const given = readArguments(process.argv.slice(2));
  const { cql, retention, mqtt, ingest } = readSettings();
  // Whoever reads along, such as head, may have seen enough.
  process.stdout.on('error', () => process.exit());
  const store = await connectStore({ cql, retention, observe: () => {}, onStaleIndex: () => {} });
  const keeper = createKeeper({ store: store.credentials, clock: Date.now, installation: mqtt.username });
  try {
    await COMMANDS[given.command]({
      keeper,
      given,
      installation: mqtt,
      autoRegister: ingest.autoRegister,
      say: (text) => void process.stdout.write(`${text}\n`),
      note: (text) => void process.stderr.write(`${text}\n`),
    });
  } finally {
    await store.close();
  }
});

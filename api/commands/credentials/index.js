import { runCommand } from '../../../common/command.js';
import { readCommandSettings } from '../../../common/dev-addresses.js';
import { createCredentialService } from '../../access/credentials/credential-service.js';
import { connectStore } from '../../store/index.js';
import { readArguments } from './arguments.js';
import { issue, list, revoke, rotate } from './commands.js';
import { mosquitto } from './mosquitto.js';

/** @import { CredentialService } from '../../access/credentials/credential-service.js' */
/** @import { Arguments } from './arguments.js' */

/**
 * What each command gets.
 *
 * @typedef {object} CommandParts
 * @property {CredentialService} credentialService
 * @property {Arguments} given
 * @property {{ username?: string | undefined, password?: string | undefined }} installation account of the installation
 * @property {boolean} autoRegister whether devices register by their first message
 * @property {(text: string) => void} print writes a line of the answer to standard output
 * @property {(text: string) => void} note writes a line for a person to standard error
 */

const COMMANDS = { issue, list, rotate, revoke, mosquitto };

// npm run credentials. It connects to the database with the settings of npm start, so it works while no other process runs.
await runCommand(async () => {
  const given = readArguments(process.argv.slice(2));
  const { cql, retention, mqtt, ingest } = readCommandSettings('database');
  // A reader of the output, such as head, may close the pipe early.
  process.stdout.on('error', () => process.exit());
  const store = await connectStore({ cql, retention, observe: () => {}, onStaleIndex: () => {} });
  const credentialService = createCredentialService({
    store: store.credentials,
    clock: Date.now,
    installation: mqtt.username,
  });
  try {
    await COMMANDS[given.command]({
      credentialService,
      given,
      installation: mqtt,
      autoRegister: ingest.autoRegister,
      print: (text) => void process.stdout.write(`${text}\n`),
      note: (text) => void process.stderr.write(`${text}\n`),
    });
  } finally {
    await store.close();
  }
});

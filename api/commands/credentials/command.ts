import { createCredentialService } from '../../access/credentials/index.js';
import { Mappings } from '../../ingest/mappings/index.js';
import { readArguments } from './arguments.js';
import { issue, list, revoke, rotate } from './commands.js';
import { mosquitto } from './mosquitto.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { CredentialService } from '../../access/credentials/credential-service.js' */
/** @import { CredentialStore } from '../../store/credentials.js' */
/** @import { connectStore } from '../../store/index.js' */
/** @import { Arguments } from './arguments.js' */

/**
 * The parameters of each command.
 *
 * @typedef {object} CommandParts
 * @property {CredentialService} credentialService
 * @property {Arguments} given
 * @property {{ username?: string | undefined, password?: string | undefined }} installation account of the installation
 * @property {Mappings} mappings of MQTT_MAPPINGS
 * @property {string} [homeAssistantPrefix] HOME_ASSISTANT_PREFIX
 * @property {boolean} autoRegister whether devices register by their first message
 * @property {(text: string) => void} print writes a line of the answer to standard output
 * @property {(text: string) => void} note writes a line for a person to standard error
 */

/** @typedef {{ credentials: CredentialStore, close: () => Promise<unknown> }} OpenStore */

const COMMANDS = { issue, list, rotate, revoke, mosquitto };

/**
 * Runs `npm run credentials`. It reads the arguments first, so a wrong argument is reported even without a database.
 *
 * @param {string[]} argv arguments without node and script
 * @param {object} deps
 * @param {() => Pick<Config, 'cql' | 'retention' | 'mqtt' | 'live' | 'ingest'>} deps.readSettings
 * @param {(options: Parameters<typeof connectStore>[0]) => Promise<OpenStore>} deps.connect opens the store, which is closed at
 *   the end
 * @param {CommandParts['print']} deps.print
 * @param {CommandParts['note']} deps.note
 * @throws {MillraceError} `usage`, `help`, `bad_settings`, `unavailable`, `failed`
 */
export async function credentialsCommand(argv, { readSettings, connect, print, note }) {
  const given = readArguments(argv);
  const { cql, retention, mqtt, live, ingest } = readSettings();
  const store = await connect({ cql, retention, observe: () => {}, onStaleIndex: () => {} });
  try {
    await COMMANDS[given.command]({
      credentialService: createCredentialService({
        store: store.credentials,
        clock: Date.now,
        installation: mqtt.username,
      }),
      given,
      installation: mqtt,
      mappings: Mappings.load(mqtt.mappings),
      homeAssistantPrefix: live.homeAssistantPrefix,
      autoRegister: ingest.autoRegister,
      print,
      note,
    });
  } finally {
    await store.close();
  }
}

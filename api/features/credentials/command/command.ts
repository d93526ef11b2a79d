import type { Config } from '../../../../common/settings/config.ts';
import type { BrokerRights } from '../../../feature.ts';
import type { connectStore, Store } from '../../../store/index.ts';
import { FEATURES } from '../../index.ts';
import { type CredentialService, createCredentialService } from '../credential-service.ts';
import { createCredentialStore } from '../store.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { issue, list, revoke, rotate } from './commands.ts';
import { mosquitto } from './mosquitto.ts';

export interface CommandParts {
  credentialService: CredentialService;
  given: Arguments;
  installation: { username?: string | undefined; password?: string | undefined };
  /** of features */
  brokerRights: BrokerRights[];
  autoRegister: boolean;
  print: (text: string) => void;
  /** prints a line for a person, to standard error */
  note: (text: string) => void;
}

type OpenStore = Pick<Store, 'session' | 'groups'> & { close: () => Promise<unknown> };

const COMMANDS = { issue, list, rotate, revoke, mosquitto };

/**
 * Reads the arguments first, so that a wrong one is reported even without a database.
 * @throws `usage`, `help`, `bad_settings`, `unavailable`, `failed`
 */
export async function credentialsCommand(
  argv: string[],
  {
    readSettings,
    connect,
    print,
    note,
  }: {
    readSettings: () => Pick<Config, 'cql' | 'retention' | 'mqtt' | 'ingest' | 'of'>;
    /** the store is closed at the end */
    connect: (options: Parameters<typeof connectStore>[0]) => Promise<OpenStore>;
    print: CommandParts['print'];
    note: CommandParts['note'];
  },
) {
  const given = readArguments(argv);
  const config = readSettings();
  const { cql, retention, mqtt, ingest } = config;
  const store = await connect({ cql, retention, observe: () => {}, onStaleIndex: () => {} });
  try {
    await COMMANDS[given.command]({
      credentialService: createCredentialService({
        store: createCredentialStore(store),
        clock: Date.now,
        installation: mqtt.username,
      }),
      given,
      installation: mqtt,
      brokerRights: FEATURES.flatMap((feature) => feature.brokerRights?.(config) ?? []),
      autoRegister: ingest.autoRegister,
      print,
      note,
    });
  } finally {
    await store.close();
  }
}

import { beforeAll } from '@jest/globals';
import type { IClientOptions, MqttClient } from 'mqtt';
import mqtt from 'mqtt';
import { createCredentialService } from '../../../../api/features/credentials/credential-service.ts';
import { type CredentialStore, createCredentialStore } from '../../../../api/features/credentials/store.ts';
import { createMemoryStore } from '../../memory-store/index.ts';
import type { TestSystem } from '../../system/index.ts';

/** MQTT 3.1.1, table 3.1 */
export const NOT_AUTHORIZED = 5;

export const createMemoryCredentials = async (
  options?: Parameters<typeof createMemoryStore>[0],
): Promise<CredentialStore> => createCredentialStore((await createMemoryStore(options)).store);

/**
 * Manages credentials of a system's devices as another process would, and clients that use them, until the system stops.
 * @param system of `useTestSystem`
 */
export function useCredentials(system: TestSystem) {
  const credentials = {} as Credentials;
  beforeAll(async () => void Object.assign(credentials, await openCredentials(system)));
  return credentials;
}

async function openCredentials(system: TestSystem) {
  const store = createCredentialStore(await system.openStore());
  const credentialService = createCredentialService({ store, clock: Date.now });

  async function connect(
    username: string | undefined,
    password: string | undefined,
    options?: IClientOptions,
  ) {
    const client = await mqtt.connectAsync(system.mqttUrl, {
      reconnectPeriod: 0,
      username,
      password,
      ...options,
    });
    client.on('error', () => {});
    system.beforeStop(() => client.endAsync(true));
    return client;
  }

  return {
    store,
    credentialService,
    connect,

    issue: async (account: string, devices?: string[]): Promise<string> =>
      (await credentialService.issue({ account, devices })).secret,

    /** Issues a credential and connects with it. */
    async connectAs(
      account: string,
      { devices, options }: { devices?: string[]; options?: IClientOptions } = {},
    ) {
      const { secret } = await credentialService.issue({ account, devices });
      return connect(account, secret, options);
    },
  };
}

type Credentials = Awaited<ReturnType<typeof openCredentials>>;

export const whenClosed = (client: MqttClient): Promise<void> =>
  new Promise((resolve) => client.once('close', () => resolve(undefined)));

/** @returns true: acknowledged; false: the connection was closed */
export async function isTaken(client: MqttClient, topic: string, payload: string): Promise<boolean> {
  let onClose = () => {};
  const closed = new Promise<boolean>((resolve) => {
    onClose = () => resolve(false);
    client.once('close', onClose);
  });
  const acknowledged = client.publishAsync(topic, payload, { qos: 1 }).then(
    () => true,
    () => closed,
  );
  const isAcknowledged = await Promise.race([acknowledged, closed]);
  client.off('close', onClose);
  return isAcknowledged;
}

/** @returns 0x80 is a refusal */
export async function trySubscribe(client: MqttClient, filter: string): Promise<boolean> {
  try {
    const [granted] = await client.subscribeAsync(filter, { qos: 1 });
    return granted?.qos !== 0x80;
  } catch {
    return false;
  }
}

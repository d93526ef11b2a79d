import { beforeAll } from '@jest/globals';
import mqtt from 'mqtt';
import { Accounts } from '../../api/access/credentials/accounts.js';
import { createCredentialService } from '../../api/access/credentials/credential-service.js';

/** @import { IClientOptions, MqttClient } from 'mqtt' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { TestSystem } from './system/index.js' */

/** MQTT 3.1.1, table 3.1 */
export const NOT_AUTHORIZED = 5;

/**
 * The options of a broker that has no database to check accounts.
 *
 * @param {Config['mqtt']} settings MQTT_AUTH is off
 */
export const everybodyMayConnect = (settings) => ({
  accounts: new Accounts({
    store: { find: async () => null, writeTimes: async () => new Map() },
    mqtt: settings,
  }),
  recheckMs: 20_000,
});

/**
 * Manages credentials of a system's devices as another process would, and clients that use them, until the system stops.
 *
 * @param {TestSystem} system of `useTestSystem`
 */
export function useCredentials(system) {
  const credentials = /** @type {Credentials} */ ({});
  beforeAll(async () => void Object.assign(credentials, await openCredentials(system)));
  return credentials;
}

/** @param {TestSystem} system */
async function openCredentials(system) {
  const store = await system.openStore();
  const credentialService = createCredentialService({ store: store.credentials, clock: Date.now });

  /** @param {string | undefined} username @param {string | undefined} password @param {IClientOptions} [options] */
  async function connect(username, password, options) {
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

    /** @param {string} account @param {string[]} [devices] @returns {Promise<string>} its secret */
    issue: async (account, devices) => (await credentialService.issue({ account, devices })).secret,

    /** Issues a credential and connects with it. @param {string} account @param {{ devices?: string[], options?: IClientOptions }} [more] */
    async connectAs(account, { devices, options } = {}) {
      const { secret } = await credentialService.issue({ account, devices });
      return connect(account, secret, options);
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof openCredentials>>} Credentials */

/** @param {MqttClient} client @returns {Promise<void>} */
export const whenClosed = (client) =>
  new Promise((resolve) => client.once('close', () => resolve(undefined)));

/**
 * @param {MqttClient} client
 * @param {string} topic
 * @param {string} payload
 * @returns {Promise<boolean>} true: acknowledged; false: the connection was closed
 */
export async function isTaken(client, topic, payload) {
  let onClose = () => {};
  const closed = new Promise((resolve) => {
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

/** @param {MqttClient} client @param {string} filter @returns {Promise<boolean>} 0x80 is a refusal */
export async function trySubscribe(client, filter) {
  try {
    const [granted] = await client.subscribeAsync(filter, { qos: 1 });
    return granted?.qos !== 0x80;
  } catch {
    return false;
  }
}

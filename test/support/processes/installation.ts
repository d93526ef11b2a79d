import { afterAll, beforeAll } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../clean-ups.js';
import { sharedContactPoint } from '../database/engine.js';
import { useKeyspace } from '../database/keyspace.js';
import { startMosquitto } from '../mqtt/mosquitto.js';
import { startApi } from './api-process.js';

/** @import { IClientOptions } from 'mqtt' */
/** @import { Use } from '../database/keyspace.js' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Mosquitto } from '../mqtt/mosquitto.js' */

/**
 * Sets up an installation for all tests of the file: a Mosquitto, and an empty keyspace.
 *
 * @param {Record<string, string>} [settings] as in the environment, added to the defaults of tests
 */
export function useInstallation(settings) {
  const afterwards = useCleanUps();
  /** @type {Mosquitto} */
  let broker;
  /** @type {Record<string, string>} */
  let shared;
  /** @type {{ config: Config, use: Use }} */
  let keyspace;

  beforeAll(async () => {
    broker = await startMosquitto();
    shared = {
      CQL_CONTACT_POINTS: sharedContactPoint(),
      MQTT_URL: broker.url,
      HTTP_PORT: '0',
      LATEST_GROUPS: '4',
      LOG_LEVEL: 'info',
      ...settings,
    };
    keyspace = await useKeyspace(shared);
    shared['CQL_KEYSPACE'] = keyspace.config.cql.keyspace;
  });
  afterAll(async () => {
    await broker?.remove();
    await keyspace?.use.release();
  });

  return {
    broker: () => broker,
    settings: () => shared,
    cql: () => keyspace.config.cql,
    afterwards,

    /** @param {Record<string, string>} own settings of this process, which is killed after the test */
    async start(own) {
      const api = await startApi({ ...shared, ...own });
      afterwards(() => api.kill());
      return api;
    },

    /** Connects a client to the broker. It is closed after the test. @param {IClientOptions} [options] */
    async connectClient(options) {
      const client = await mqtt.connectAsync(broker.url, options);
      afterwards(() => client.endAsync(true));
      return client;
    },
  };
}

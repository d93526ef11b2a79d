import { afterAll, beforeAll } from '@jest/globals';
import type { IClientOptions } from 'mqtt';
import mqtt from 'mqtt';
import type { Config } from '../../../common/settings/config.ts';
import { useCleanUps } from '../clean-ups.ts';
import { sharedContactPoint } from '../database/engine.ts';
import { type Use, useKeyspace } from '../database/keyspace.ts';
import { type Mosquitto, startMosquitto } from '../mqtt/mosquitto.ts';
import { startApi } from './api-process.ts';

/**
 * A Mosquitto and an empty keyspace for all tests of the file.
 * @param settings as in the environment, added to the defaults of tests
 */
export function useInstallation(settings?: Record<string, string>) {
  const afterwards = useCleanUps();
  let broker: Mosquitto;
  let shared: Record<string, string>;
  let keyspace: { config: Config; use: Use };

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

    /** @param own settings of this process, which is killed after the test */
    async start(own: Record<string, string>) {
      const api = await startApi({ ...shared, ...own });
      afterwards(() => api.kill());
      return api;
    },

    /** Connects a client to the broker. It is closed after the test. */
    async connectClient(options?: IClientOptions) {
      const client = await mqtt.connectAsync(broker.url, options);
      afterwards(() => client.endAsync(true));
      return client;
    },
  };
}

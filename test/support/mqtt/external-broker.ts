import { beforeEach } from '@jest/globals';
import type { IClientOptions, MqttClient } from 'mqtt';
import mqtt from 'mqtt';
import type { OtherPeriods } from '../../../common/periods.ts';
import { useCleanUps } from '../clean-ups.ts';
import { type CqlRequest, startCqlProxy } from '../database/cql-proxy.ts';
import { sharedContactPoint } from '../database/engine.ts';
import { readMetric } from '../metrics.ts';
import { startTestSystem, type TestSystem } from '../system/index.ts';
import { until } from '../until.ts';
import { type Mosquitto, startMosquitto } from './mosquitto.ts';
import { startMqttProxy } from './mqtt-proxy.ts';

/** The time of value 0, in epoch ms. */
export const BASE = Date.now() - 600_000;

/** For each test of the file. */
export function useExternalBroker() {
  const afterwards = useCleanUps();
  let broker: Mosquitto;
  beforeEach(async () => {
    broker = await startMosquitto();
    afterwards(() => broker.remove());
  });

  return {
    broker: () => broker,
    afterwards,

    /** @param settings `CQL_CONTACT_POINTS`: of a proxy in front of the shared database @param periods ms */
    async startSystem(
      { CQL_CONTACT_POINTS: proxy, ...settings }: Record<string, string> = {},
      periods: OtherPeriods = {},
    ) {
      const system = await startTestSystem({
        settings: { MQTT_URL: broker.url, ...settings },
        proxy,
        periods,
      });
      afterwards(() => system.stop());
      return system;
    },

    async startCql() {
      const cql = await startCqlProxy(sharedContactPoint());
      afterwards(() => cql.stop());
      return cql;
    },

    async startMqttProxy() {
      const mqttProxy = await startMqttProxy(broker.url);
      afterwards(() => mqttProxy.stop());
      return mqttProxy;
    },

    async connectDevice(options?: IClientOptions) {
      const client = await mqtt.connectAsync(broker.url, { reconnectPeriod: 100, ...options });
      client.on('error', () => {}); // Tests stop and start the broker. The client reconnects.
      afterwards(() => client.endAsync(true));
      return client;
    },
  };
}

/**
 * Publishes a message of the sensor `s` for each value, at BASE + value.
 * @param filler white space after the JSON
 */
export const publishValues = (client: MqttClient, device: string, values: number[], filler: string = '') =>
  Promise.all(
    values.map((value) =>
      client.publishAsync(
        `iot/v1/${device}/measurements`,
        JSON.stringify({ sensor_id: 's', ts: BASE + value, value }) + filler,
        { qos: 1 },
      ),
    ),
  );

/** Waits until ingest has received messages that are not settled. They may share a request. */
export const untilUnsettled = (system: TestSystem, count: number) =>
  until(async () => (await readMetric(system, 'iot_ingest_unsettled_messages')) === count);

/** @returns in order of time */
export async function storedValues(system: TestSystem, device: string): Promise<number[]> {
  const path = `/devices/${device}/sensors/s/measurements`;
  const response = await system.fetch(path);
  if (response.status === 404) return [];
  const items = await system.all(`${path}?from=${BASE}&order=asc&limit=1000`);
  return items.map(({ value }) => value);
}

export const writesSamples = ({ statements }: CqlRequest) =>
  statements.some(({ cql }) => cql.startsWith('INSERT INTO message'));

/** @returns 0, 1, … */
export const zeroTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

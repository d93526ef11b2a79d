import { beforeEach } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../clean-ups.js';
import { startCqlWire } from '../database/cql-wire.js';
import { sharedContactPoint } from '../database/engine.js';
import { readMetric } from '../metrics.js';
import { startTestSystem } from '../system/index.js';
import { until } from '../until.js';
import { startMosquitto } from './mosquitto.js';
import { startMqttWire } from './wire.js';

/** @import { IClientOptions, MqttClient } from 'mqtt' */
/** @import { Periods } from '../../../common/periods.js' */
/** @import { WireRequest } from '../database/cql-wire.js' */
/** @import { Mosquitto } from './mosquitto.js' */
/** @import { TestSystem } from '../system/index.js' */

/** The time of value 0, in epoch ms. */
export const BASE = Date.now() - 600_000;

/**
 * Starts a Mosquitto and helpers for each test of the file, and removes them after the test.
 */
export function useExternalBroker() {
  const afterwards = useCleanUps();
  /** @type {Mosquitto} */
  let broker;
  beforeEach(async () => {
    broker = await startMosquitto();
    afterwards(() => broker.remove());
  });

  return {
    broker: () => broker,
    /** Registers a clean-up. Clean-ups run after the test, in reverse order. */
    afterwards,

    /**
     * @param {Record<string, string>} [settings] `CQL_CONTACT_POINTS`: of a proxy in front of the shared database
     * @param {Partial<Periods>} [periods] ms
     */
    async startSystem({ CQL_CONTACT_POINTS: proxy, ...settings } = {}, periods = {}) {
      const system = await startTestSystem({
        settings: { MQTT_URL: broker.url, ...settings },
        proxy,
        periods,
      });
      afterwards(() => system.stop());
      return system;
    },

    async startCql() {
      const cql = await startCqlWire(sharedContactPoint());
      afterwards(() => cql.stop());
      return cql;
    },

    async startWire() {
      const wire = await startMqttWire(broker.url);
      afterwards(() => wire.stop());
      return wire;
    },

    /** @param {IClientOptions} [options] */
    async connectDevice(options) {
      const client = await mqtt.connectAsync(broker.url, { reconnectPeriod: 100, ...options });
      client.on('error', () => {}); // Tests stop and start the broker. The client reconnects.
      afterwards(() => client.endAsync(true));
      return client;
    },
  };
}

/**
 * Publishes a message of the sensor `s` for each value, at BASE + value.
 *
 * @param {MqttClient} client
 * @param {string} device
 * @param {number[]} values
 * @param {string} [filler] white space after the JSON
 */
export const publishValues = (client, device, values, filler = '') =>
  Promise.all(
    values.map((value) =>
      client.publishAsync(
        `iot/v1/${device}/measurements`,
        JSON.stringify({ sensor_id: 's', ts: BASE + value, value }) + filler,
        { qos: 1 },
      ),
    ),
  );

/** Waits until ingest has received messages that are not settled. They may share a request. @param {TestSystem} system @param {number} count */
export const untilUnsettled = (system, count) =>
  until(async () => (await readMetric(system, 'iot_ingest_unsettled_messages')) === count);

/** @param {TestSystem} system @param {string} device @returns {Promise<number[]>} in order of time */
export async function storedValues(system, device) {
  const path = `/devices/${device}/sensors/s/measurements`;
  const response = await system.fetch(path);
  if (response.status === 404) return [];
  const items = await system.all(`${path}?from=${BASE}&order=asc&limit=1000`);
  return items.map(({ value }) => value);
}

/** @param {WireRequest} request */
export const writesSamples = ({ statements }) =>
  statements.some(({ cql }) => cql.startsWith('INSERT INTO message'));

/** @param {number} count @returns {number[]} 0, 1, … */
export const zeroTo = (count) => Array.from({ length: count }, (_, i) => i);

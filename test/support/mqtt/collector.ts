import { randomUUID } from 'node:crypto';
import mqtt from 'mqtt';

/** @typedef {{ topic: string, payload: any, retain: boolean }} Collected `payload`: parsed JSON */

/**
 * Collects all messages under `iot/v1/`, in order of arrival, also across restarts of the broker.
 *
 * @param {string} url
 */
export async function collectMessages(url) {
  /** @type {Collected[]} */
  const messages = [];
  /** @type {Set<() => void>} */
  const listeners = new Set();
  const client = mqtt.connect(url, {
    protocolVersion: 5,
    clientId: `collector-${randomUUID()}`,
    clean: false,
    properties: { sessionExpiryInterval: 600 },
    reconnectPeriod: 100,
  });
  client.on('error', () => {}); // Tests stop and start the broker. The client reconnects.
  client.on('message', (topic, payload, { retain }) => {
    messages.push({ topic, payload: JSON.parse(payload.toString()), retain });
    for (const listener of listeners) listener();
  });
  await /** @type {Promise<void>} */ (new Promise((resolve) => client.once('connect', () => resolve())));
  await client.subscribeAsync('iot/v1/#', { qos: 1 });

  return {
    messages,

    /** @param {string} kind the topic's last level @param {string} [device] */
    of: (kind, device) =>
      messages.filter(({ topic }) => {
        const levels = topic.split('/');
        return levels[3] === kind && (device === undefined || levels[2] === device);
      }),

    /** @param {() => boolean} condition checked after each message @returns {Promise<void>} settles when it is true */
    until(condition) {
      if (condition()) return Promise.resolve();
      return new Promise((resolve) => {
        const listener = () => {
          if (!condition()) return;
          listeners.delete(listener);
          resolve();
        };
        listeners.add(listener);
      });
    },

    stop: () => client.endAsync(true),
  };
}

/** @typedef {Awaited<ReturnType<typeof collectMessages>>} Collector */

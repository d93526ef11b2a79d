import { randomUUID } from 'node:crypto';
import mqtt from 'mqtt';
import type { Json } from '../json.ts';

/** `payload`: parsed JSON */
type Collected = { topic: string; payload: Json; retain: boolean };

export async function collectMessages(url: string) {
  const messages: Collected[] = [];
  const listeners: Set<() => void> = new Set();
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
  await (new Promise((resolve) => client.once('connect', () => resolve())) as Promise<void>);
  await client.subscribeAsync('iot/v1/#', { qos: 1 });

  return {
    messages,

    /** @param kind the topic's last level */
    of: (kind: string, device?: string) =>
      messages.filter(({ topic }) => {
        const levels = topic.split('/');
        return levels[3] === kind && (device === undefined || levels[2] === device);
      }),

    /** @param condition checked after each message @returns settles when it is true */
    until(condition: () => boolean): Promise<void> {
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

export type Collector = Awaited<ReturnType<typeof collectMessages>>;

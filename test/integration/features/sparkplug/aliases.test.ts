// cspell:ignore Sepp
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { bdSeq, encodePayload, type MetricContent } from '../../../support/features/sparkplug/payload.ts';
import type { Json } from '../../../support/json.ts';
import { useInstallation } from '../../../support/processes/installation.ts';
import { until } from '../../../support/until.ts';

/**
 * Replays public bug reports about Sparkplug aliases behind an external broker, with our own payloads. Each title names
 * its report.
 */

const { broker, start } = useInstallation({});

let client: mqtt.MqttClient;
beforeAll(async () => {
  client = await mqtt.connectAsync(broker().url);
});
afterAll(() => client?.endAsync(true));

async function listen(node: string): Promise<{ commands: number }> {
  const state = { commands: 0 };
  client.on('message', (topic) => {
    if (topic.endsWith(`/${node}`)) state.commands++;
  });
  await client.subscribeAsync(`spBv1.0/field/NCMD/${node}`, { qos: 1 });
  return state;
}

const edge = (
  node: string,
  type: string,
  content: Parameters<typeof encodePayload>[0],
  { device, qos = 1 }: { device?: string; qos?: 0 | 1 } = {},
) =>
  client.publishAsync(`spBv1.0/field/${type}/${node}${device ? `/${device}` : ''}`, encodePayload(content), {
    qos,
  });

const metric = (
  name: string,
  alias: number,
  value: number,
  type: MetricContent['type'] = 'double',
): MetricContent => ({ name, alias, ts: Date.now(), type, value });

async function get({ httpUrl }: { httpUrl: string }, path: string): Promise<Json> {
  const response = await fetch(`${httpUrl}/api/v1${path}`);
  return response.status === 200 ? response.json() : null;
}

/** @returns the oldest first */
async function values(api: { httpUrl: string }, device: string, sensor: string): Promise<number[]> {
  const path = `/devices/${encodeURIComponent(device)}/sensors/${sensor}/measurements?order=asc`;
  return ((await get(api, path))?.items ?? []).map((item: { value: unknown }) => item.value);
}

async function deadLetters(api: { httpUrl: string }, device: string): Promise<Array<Record<string, number>>> {
  const { items } = await get(api, `/dead-letters?device=${encodeURIComponent(device)}`);
  return items.map((item: { codes: object }) => item.codes);
}

test('Sparkplug aliases: united-manufacturing-hub/benthos-umh#345: node swaps two aliases while the host is down: data becomes a dead letter, and a rebirth is requested', async () => {
  const first = await start({ MQTT_CLIENT_ID: 'host' });
  const node = await listen('swapped');
  await edge('swapped', 'NBIRTH', {
    seq: 0,
    metrics: [bdSeq(0), metric('temp', 1, 21), metric('pressure', 2, 1013)],
  });
  await until(async () => (await values(first, 'field/swapped', 'temp')).length === 1);
  first.signal('SIGTERM');
  await first.ended;
  const swapped = { seq: 0, metrics: [bdSeq(1), metric('pressure', 1, 1013), metric('temp', 2, 22)] };
  await edge('swapped', 'NBIRTH', swapped, { qos: 0 });
  const second = await start({ MQTT_CLIENT_ID: 'host' });
  await edge('swapped', 'NDATA', { ts: Date.now(), seq: 1, metrics: [{ alias: 1, value: 1014 }] });
  await until(() => node.commands === 1);
  await until(async () => (await deadLetters(second, 'field/swapped')).length === 1);
  expect(await deadLetters(second, 'field/swapped')).toEqual([{ unknown_sensor: 1 }]);
  await edge('swapped', 'NBIRTH', swapped);
  await edge('swapped', 'NDATA', { ts: Date.now(), seq: 1, metrics: [{ alias: 1, value: 1015 }] });
  await until(async () => (await values(second, 'field/swapped', 'pressure')).includes(1015));
  expect(await values(second, 'field/swapped', 'temp')).not.toContain(1014);
  second.signal('SIGTERM');
  await second.ended;
});

// cspell:ignore Sepp
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { bdSeq, encodePayload, type MetricContent } from '../../../support/features/sparkplug/payload.ts';
import type { Json } from '../../../support/json.ts';
import { useInstallation } from '../../../support/processes/installation.ts';
import { startTestSystem } from '../../../support/system/index.ts';
import { until } from '../../../support/until.ts';

/**
 * Replays public bug reports about Sparkplug aliases behind an external broker, with our own payloads. Each title names
 * its report.
 */

const { broker, start, afterwards } = useInstallation({});

let client: mqtt.MqttClient;
beforeAll(async () => {
  client = await mqtt.connectAsync(broker().url);
});
afterAll(() => client?.endAsync(true));

/** @returns rebirth commands that the node received */
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

/** @returns codes of its dead letters */
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

/** Starts Millrace with the embedded broker, to which the client of this file connects. */
async function startEmbedded() {
  const system = await startTestSystem();
  const before = client;
  client = await mqtt.connectAsync(system.mqttUrl);
  afterwards(async () => {
    await client.endAsync(true);
    client = before;
    await system.stop();
  });
  return system;
}

test('Sparkplug aliases: mqtt-viewer/mqtt-viewer#129: two devices use one alias: values are stored under the metric of each device', async () => {
  const api = await startEmbedded();
  await edge('spaces', 'NBIRTH', { seq: 0, metrics: [bdSeq(0), metric('load', 3, 1)] });
  await edge('spaces', 'DBIRTH', { seq: 1, metrics: [metric('energy', 3, 2)] }, { device: 'meter' });
  await edge('spaces', 'DBIRTH', { seq: 2, metrics: [metric('volts', 3, 3)] }, { device: 'grid' });
  const ts = Date.now() + 1;
  await edge('spaces', 'DDATA', { ts, seq: 3, metrics: [{ alias: 3, value: 20 }] }, { device: 'meter' });
  await edge('spaces', 'DDATA', { ts, seq: 4, metrics: [{ alias: 3, value: 30 }] }, { device: 'grid' });
  await edge('spaces', 'NDATA', { ts, seq: 5, metrics: [{ alias: 3, value: 10 }] });
  await until(async () => (await values(api, 'field/spaces', 'load')).length === 2);
  expect(await values(api, 'field/spaces/meter', 'energy')).toEqual([2, 20]);
  expect(await values(api, 'field/spaces/grid', 'volts')).toEqual([3, 30]);
  expect(await values(api, 'field/spaces', 'load')).toEqual([1, 10]);

  // eclipse-sparkplug/sparkplug#178, SeppPenner/SparkplugNet#57: a second NBIRTH on one connection, and data with the next sequence number.
  const node = await listen('spaces');
  await edge('spaces', 'NBIRTH', { seq: 0, metrics: [bdSeq(0), metric('volume', 3, 5)] });
  await edge('spaces', 'NDATA', { ts: Date.now() + 2, seq: 1, metrics: [{ alias: 3, value: 6 }] });
  await until(async () => (await values(api, 'field/spaces', 'volume')).length === 2);
  expect(await values(api, 'field/spaces', 'load')).toEqual([1, 10]);
  expect(node.commands).toBe(0);

  // eclipse-tahu/tahu#370: a metric that the birth does not define.
  await edge('spaces', 'NDATA', { ts: Date.now(), seq: 2, metrics: [{ alias: 99, value: 7 }] });
  await until(() => node.commands === 1);
  expect(await deadLetters(api, 'field/spaces')).toEqual([{ unknown_sensor: 1 }]);
});

test('Sparkplug aliases: united-manufacturing-hub/benthos-umh#454: NDATA has name and alias but no datatype: stored with the datatype of the NBIRTH', async () => {
  const api = await startEmbedded();
  await edge('named', 'NBIRTH', { seq: 0, metrics: [bdSeq(0), metric('level', 1, 5, 'int32')] });
  const named = { ...metric('level', 1, -12, 'int32'), ts: Date.now() + 1 };
  const bytes = encodePayload({ seq: 1, metrics: [named] });
  // This NDATA leaves out the datatype field, which Sparkplug allows.
  const at = bytes.indexOf(Buffer.from([0x20, 0x03]));
  const without = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 2)]);
  without[1] = Number(without[1]) - 2;
  await client.publishAsync('spBv1.0/field/NDATA/named', without, { qos: 1 });
  await until(async () => (await values(api, 'field/named', 'level')).length === 2);
  expect(await values(api, 'field/named', 'level')).toEqual([5, -12]);
});

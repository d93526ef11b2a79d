import { describe, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { readDeadLetters } from '../../../support/dead-letters.ts';
import { connectEdgeNode, type EdgeNode } from '../../../support/features/sparkplug/edge-node.ts';
import { countOf, LATER, T0, vector } from '../../../support/features/sparkplug/vectors.ts';
import { useTestSystem } from '../../../support/system/use.ts';
import { until } from '../../../support/until.ts';

let now = T0 + 2 * LATER;
let nodes = 0;
const afterwards = useCleanUps();
const system = useTestSystem({ clock: () => now });

/** Connects an edge node that has not published yet. */
async function connectNode() {
  const node = await connectEdgeNode(system.mqttUrl, { id: `edge-${nodes++}`, death: vector('ndeath') });
  afterwards(() => node.end());
  return node;
}

/** Connects an edge node, and publishes its birth and that of its device. */
async function connectBorn() {
  const node = await connectNode();
  await node.publish('NBIRTH', vector('nbirth'));
  await node.publish('DBIRTH', vector('dbirth'));
  return node;
}

const read = (device: string) => system.get(`/devices/${encodeURIComponent(device)}`);

/** @param sensor of its device @returns by time */
async function samplesOf({ device }: EdgeNode, sensor: string): Promise<unknown[][]> {
  const path = `/devices/${encodeURIComponent(device)}/sensors/${encodeURIComponent(sensor)}/measurements`;
  const items = await system.all(`${path}?from=${T0}&order=asc&limit=1000`);
  return items.map(({ ts, value }) => [Date.parse(ts) - T0, value]);
}

test('Sparkplug NBIRTH and DBIRTH: node and device are registered, and their values are stored', async () => {
  const node = await connectBorn();
  const { sensors, ...device } = await read(node.name);
  expect(device).toMatchObject({ name: node.name, online: true });
  expect(sensors).toEqual([
    expect.objectContaining({
      name: 'Supply Voltage',
      type: 'Float',
      unit: 'V',
      ts: new Date(T0).toISOString(),
      value: 12.5,
    }),
  ]);
  const press = await read(node.device);
  expect(press).toMatchObject({ name: node.device, online: true });
  const byName = new Map(press.sensors.map((sensor: Record<string, unknown>) => [sensor.name, sensor]));
  expect([...byName.keys()].sort()).toEqual(['Count', 'Running', 'Setpoint', 'Temperature']);
  expect(byName.get('Temperature')).toMatchObject({ type: 'Double', unit: '°C', value: 20.5 });
  expect(byName.get('Count')).toMatchObject({ type: 'Int64', unit: null, value: -5 });
  expect(byName.get('Running')).toMatchObject({ type: 'Boolean', value: 1 });
  expect(byName.get('Setpoint')).toMatchObject({ type: 'Int16', value: null, ts: null });
  expect(node.commands).toEqual([]);
  expect(await readDeadLetters(system, node.device)).toEqual([]);
});

test('Sparkplug DDATA: aliases, and more messages than sequence numbers: every value is stored, without a rebirth request', async () => {
  const node = await connectBorn();
  const indexes = Array.from({ length: countOf('ddata') }, (_, index) => index);
  await Promise.all(indexes.map((index) => node.publish('DDATA', vector('ddata', index))));
  expect(await samplesOf(node, 'Temperature')).toEqual([
    [1, 20.5],
    ...indexes.map((index) => [1000 * (index + 2), 22 + index]),
  ]);
  expect(node.commands).toEqual([]);
  expect(await readDeadLetters(system, node.device)).toEqual([]);
});

describe('Sparkplug: deaths', () => {
  /** @returns the node and its device */
  const online = async ({ name, device }: EdgeNode): Promise<boolean[]> => [
    (await read(name)).online,
    (await read(device)).online,
  ];

  test('Sparkplug node: MQTT connection breaks: the node and its device are offline', async () => {
    const node = await connectBorn();
    expect(await online(node)).toEqual([true, true]);
    node.break();
    await until(async () => !(await online(node)).includes(true));
  });
});

test('Sparkplug messages: invalid payload: each becomes a dead letter, and the node stays connected', async () => {
  const node = await connectBorn();
  const messages = [
    Buffer.from('no protobuf'),
    Buffer.alloc(0),
    vector('oddities'),
    Buffer.concat(Array(10_001).fill(vector('ddata'))),
  ];
  for (const message of messages) {
    now++;
    await node.publish('DDATA', message);
  }
  await node.publish('NDEATH', Buffer.from('no protobuf'));
  expect((await readDeadLetters(system, node.device)).map(({ codes }) => codes)).toEqual([
    { malformed: 1 },
    { not_finite: 1, not_numeric: 2, unknown_sensor: 1 },
    { too_large: 1 },
  ]);
  expect((await readDeadLetters(system, node.name)).map(({ codes }) => codes)).toEqual([{ malformed: 1 }]);
  expect(node.connected()).toBe(true);
  expect(await samplesOf(node, 'no type, a double')).toEqual([[0, 5]]);
});

test('Sparkplug commands and STATE: a client publishes them: no subscriber receives them, because only the host may publish them', async () => {
  const client = await mqtt.connectAsync(system.mqttUrl);
  afterwards(() => client.endAsync(true));
  const received: Array<[topic: string, text: string | null, retained: boolean]> = [];
  client.on('message', (topic, payload, { retain }) =>
    received.push([topic, topic.includes('STATE') ? String(payload) : null, retain]),
  );
  const node = await connectNode();
  const id = node.name.replace('plant/', '');
  await client.subscribeAsync(['spBv1.0/STATE/+', `spBv1.0/+/+/${id}/#`], { qos: 1 });
  await until(() => received.length === 1);
  for (const topic of [`plant/NCMD/${id}`, `plant/DCMD/${id}/press`, 'STATE/other', 'STATE/millrace-1']) {
    await client.publishAsync(`spBv1.0/${topic}`, 'of another client', { qos: 1, retain: true });
  }
  await node.publish('NBIRTH', vector('nbirth'));
  await node.publish('DBIRTH', vector('dbirth'));
  await until(() => received.length >= 3);
  expect(received).toEqual([
    ['spBv1.0/STATE/millrace-1', JSON.stringify({ online: true, timestamp: T0 + 2 * LATER }), true],
    [`spBv1.0/plant/NBIRTH/${id}`, null, false],
    [`spBv1.0/plant/DBIRTH/${id}/press`, null, false],
  ]);
  expect(node.commands).toEqual([]);
});

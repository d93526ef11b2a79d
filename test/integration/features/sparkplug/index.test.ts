import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { readDeadLetters } from '../../../support/dead-letters.ts';
import { connectEdgeNode } from '../../../support/features/sparkplug/edge-node.ts';
import { LATER, T0, vector } from '../../../support/features/sparkplug/vectors.ts';
import { useTestSystem } from '../../../support/system/use.ts';
import { until } from '../../../support/until.ts';

const now = T0 + 2 * LATER;
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

test('Sparkplug births: NBIRTH, then DBIRTH: node and device are registered, and their values are stored', async () => {
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

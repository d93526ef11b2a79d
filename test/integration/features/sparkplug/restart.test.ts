import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { connectEdgeNode } from '../../../support/features/sparkplug/edge-node.ts';
import { LATER, T0, vector } from '../../../support/features/sparkplug/vectors.ts';
import { startTestSystem } from '../../../support/system/index.ts';
import { until } from '../../../support/until.ts';

const NODE = encodeURIComponent('plant/edge-1');
const DEVICE = encodeURIComponent('plant/edge-1/press');

const afterwards = useCleanUps();

async function connectNode({ mqttUrl }: { mqttUrl: string }) {
  const node = await connectEdgeNode(mqttUrl, { id: 'edge-1', death: vector('ndeathNext') });
  afterwards(() => node.end());
  return node;
}

async function listen({ mqttUrl }: { mqttUrl: string }, filter: string) {
  const client = await mqtt.connectAsync(mqttUrl);
  afterwards(() => client.endAsync(true));
  const received: Array<{ topic: string; text: string; retain: boolean }> = [];
  client.on('message', (topic, payload, { retain }) =>
    received.push({ topic, text: String(payload), retain }),
  );
  await client.subscribeAsync(filter, { qos: 1 });
  return received;
}

test('Sparkplug host: restarts: data with aliases needs a new birth, an old NDEATH is ignored, and STATE is published each time', async () => {
  let now = T0 + 2 * LATER;
  const clock = () => now;
  const first = await startTestSystem({ clock, settings: { MQTT_CLIENT_ID: 'host-7' } });
  afterwards(() => first.stop());
  const state = { topic: 'spBv1.0/STATE/host-7', retain: true };
  const states = await listen(first, state.topic);
  await until(() => states.length === 1);
  expect(states[0]).toEqual({ ...state, text: JSON.stringify({ online: true, timestamp: now }) });
  const before = await connectNode(first);
  await before.publish('NBIRTH', vector('nbirth'));
  await before.publish('DBIRTH', vector('dbirth'));
  await before.publish('NBIRTH', vector('nbirthNext'));
  await before.publish('DBIRTH', vector('dbirthSwapped'));
  // The node disconnects cleanly, without its will. Then the host stops.
  await before.leave();
  now += 1;
  await first.halt();
  await until(() => states.length === 2);
  expect(states[1]).toEqual({
    ...state,
    text: JSON.stringify({ online: false, timestamp: now }),
    retain: false,
  });

  const second = await startTestSystem({ clock, settings: { CQL_KEYSPACE: first.config.cql.keyspace } });
  afterwards(() => second.halt());
  const node = await connectNode(second);
  await node.publish('DDATA', vector('ddataSwapped'));
  await until(() => node.commands.length === 1);
  now += 1;
  await node.publish('NBIRTH', vector('nbirthNext'));
  await node.publish('DBIRTH', vector('dbirthSwapped'));
  const path = `/devices/${DEVICE}/sensors/Count/measurements?from=${T0}&order=asc`;
  const count = async () => (await second.all(path)).map(({ ts, value }) => [Date.parse(ts) - T0, value]);
  const counted = [
    [1, -5],
    [LATER + 1, -5],
  ];
  // The last two births before this DDATA differ in its alias, so the message stays a dead letter.
  expect(await count()).toEqual(counted);
  await node.publish('DDATA', vector('ddataSwapped'));
  expect(await count()).toEqual([...counted, [LATER + 2000, 99]]);

  const online = async () =>
    Promise.all([NODE, DEVICE].map(async (device) => (await second.get(`/devices/${device}`)).online));
  await node.publish('NDEATH', vector('ndeath'));
  expect(await online()).toEqual([true, true]);
  node.break();
  await until(async () => !(await online()).includes(true));
});

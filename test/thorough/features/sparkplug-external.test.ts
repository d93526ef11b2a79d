import { expect, test } from '@jest/globals';
import { connectEdgeNode, type EdgeNode } from '../../support/features/sparkplug/edge-node.ts';
import { T0, vector } from '../../support/features/sparkplug/vectors.ts';
import { readMetric } from '../../support/metrics.ts';
import { startMosquitto } from '../../support/mqtt/mosquitto.ts';
import { useInstallation } from '../../support/processes/installation.ts';
import { startTestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';

const STATE = 'spBv1.0/STATE/host';

// The vectors are of 2025.
const { broker, start, connectClient, afterwards } = useInstallation({ HISTORY_DAYS: '3650' });

async function connectNode(id: string) {
  const node = await connectEdgeNode(broker().url, { id, death: vector('ndeath') });
  afterwards(() => node.end());
  return node;
}

async function listen(topic: string) {
  const client = await connectClient();
  const received: Array<{ online: boolean; timestamp: number }> = [];
  client.on('message', (_, payload) => received.push(JSON.parse(String(payload))));
  await client.subscribeAsync(topic, { qos: 1 });
  return { client, received };
}

async function temperatures({ httpUrl }: { httpUrl: string }, { device }: EdgeNode) {
  const path = `/api/v1/devices/${encodeURIComponent(device)}/sensors/Temperature/measurements`;
  const response = await fetch(`${httpUrl}${path}?from=${T0}&to=${T0 + 600_000}&order=asc`);
  if (response.status !== 200) return [];
  return (await response.json()).items.map((item: Record<string, unknown>) => item.value);
}

const untilStored = (api: { httpUrl: string }, node: EdgeNode, values: number[]) =>
  until(async () => (await temperatures(api, node)).length === values.length, { what: 'the data' });

test('Sparkplug: one of two processes is the host: only the host stores the data, and requests a rebirth after a gap', async () => {
  const [host, other] = await Promise.all([
    start({ MQTT_CLIENT_ID: 'host' }),
    start({ MQTT_CLIENT_ID: 'other', SPARKPLUG: 'false' }),
  ]);
  const node = await connectNode('edge-1');
  await node.publish('NBIRTH', vector('nbirth'), 0);
  await node.publish('DBIRTH', vector('dbirth'), 0);
  for (const index of [0, 1, 2]) await node.publish('DDATA', vector('ddata', index), 0);
  await untilStored(host, node, [20.5, 22, 23, 24]);
  expect(node.commands).toEqual([]);
  await node.publish('DDATA', vector('ddata', 7), 0);
  await until(() => node.commands.length === 1);
  expect(node.commands).toEqual([true]);
  await untilStored(host, node, [20.5, 22, 23, 24, 29]);
  expect(await temperatures(host, node)).toEqual([20.5, 22, 23, 24, 29]);

  const settled = 'iot_ingest_messages_total{result="settled"}';
  // A stored value can be read shortly before its message is settled.
  await until(async () => (await readMetric(host, settled)) >= 6, { what: 'six messages settled' });
  expect(await readMetric(host, settled)).toBe(6);
  expect(await readMetric(other, settled)).toBe(0);
  expect(await readMetric(other, 'iot_ingest_messages_total{result="unknown_topic"}')).toBe(0);

  // The will of a node that breaks off also comes to the host alone.
  node.break();
  const isOnline = async () => {
    const response = await fetch(`${host.httpUrl}/api/v1/devices/${encodeURIComponent(node.device)}`);
    return (await response.json()).online;
  };
  await until(async () => !(await isOnline()), { what: 'the end of the device' });
});

test('Sparkplug host: killed between births and data: its last will is published, and data with aliases is stored after a rebirth', async () => {
  const { received } = await listen(STATE);
  const first = await start({ MQTT_CLIENT_ID: 'host' });
  await until(() => received.at(-1)?.online === true);
  const { timestamp } = received.at(-1) as { timestamp: number };
  const node = await connectNode('edge-2');
  await node.publish('NBIRTH', vector('nbirth'));
  await node.publish('DBIRTH', vector('dbirth'));
  await untilStored(first, node, [20.5]);
  await first.kill();
  await until(() => received.at(-1)?.online === false);
  // The will and the birth are of one connection (tck-id-host-topic-phid-birth-payload-timestamp).
  expect(received.at(-1)?.timestamp).toBe(timestamp);
  await node.publish('DDATA', vector('ddata', 0));

  const second = await start({ MQTT_CLIENT_ID: 'host' });
  await until(() => received.at(-1)?.online === true);
  await until(() => node.commands.length === 1);
  await node.publish('DDATA', vector('ddata', 1));
  await node.publish('NBIRTH', vector('nbirth'));
  await node.publish('DBIRTH', vector('dbirth'));
  await untilStored(second, node, [20.5, 22, 23]);
  expect(await temperatures(second, node)).toEqual([20.5, 22, 23]);
});

test('Sparkplug host: the broker refuses the STATE message: a fatal error names the permission and SPARKPLUG', async () => {
  const broker = await startMosquitto({
    users: { ingest: 'i' },
    acl: ['user ingest', 'topic readwrite iot/#'],
  });
  afterwards(() => broker.remove());
  const settings = { MQTT_URL: broker.url, MQTT_USERNAME: 'ingest', MQTT_PASSWORD: 'i' };
  const fatal = new Promise((resolve) => {
    const starting = startTestSystem({ settings, onFatal: resolve });
    afterwards(async () => (await starting).stop());
  });
  expect(await fatal).toMatchObject({
    code: 'broker_away',
    message: expect.stringMatching(/publish on spBv1\.0\/STATE\/.*set SPARKPLUG to false/),
  });
});

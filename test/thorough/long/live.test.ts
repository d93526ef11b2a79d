import { expect, test } from '@jest/globals';
import { type Identity, identifyDevice } from '../../../schema/ids.ts';
import type { EventStream } from '../../support/http/event-stream.ts';
import { send } from '../../support/http/index.ts';
import { startGate } from '../../support/http/tcp-gate.ts';
import { readMetric } from '../../support/metrics.ts';
import type { ApiProcess } from '../../support/processes/api-process.ts';
import { measure, received, useLiveProcesses } from '../../support/processes/live.ts';
import { until } from '../../support/until.ts';

/** A resync, every 30 s, delivers a lost change. */
const RESYNCED_WITHIN_MS = 120_000;

const { left, right, follow, start, broker, connectClient, afterwards } = useLiveProcesses();

const committedAt = (stream: EventStream, value: number) =>
  stream.events.find(
    ({ event, data }) =>
      event === 'delta' && data.items.some((item: { value: unknown }) => item.value === value),
  )?.data.committed_at;

async function readiness({ httpUrl }: ApiProcess) {
  const { status, text } = await send(httpUrl, '/readyz');
  return { status, ...JSON.parse(text) };
}

const idOf = (device: string) => (identifyDevice(device) as Identity).id;

test('Live changes: HTTP process loses its broker: readers get changes from the database, and the process stays ready', async () => {
  const gate = await startGate(broker().url);
  afterwards(() => gate.stop());
  const http = await start({ ROLE: 'http', MQTT_URL: gate.url });
  const client = await connectClient();
  await measure(client, 'cut', 1);
  const reader = await follow(http, '?device=cut');
  expect((await readiness(http)).checks.live).toEqual({ ok: true, message: 'connected' });

  gate.cut('refuse');
  await until(async () => (await readiness(http)).checks.live.ok === false);
  expect(await readiness(http)).toMatchObject({ status: 200, ready: true });
  await measure(client, 'cut', 2);
  await until(() => received(reader).has('cut 2'), { withinMs: RESYNCED_WITHIN_MS });
  expect(await readMetric(http, 'iot_live_resynced_total')).toBe(1);

  await measure(client, 'cut', 3);
  await gate.open();
  await until(() => received(reader).has('cut 3'));
  expect((await readiness(http)).checks.live.ok).toBe(true);
  await measure(client, 'cut', 4);
  await until(() => received(reader).has('cut 4'));
  // The resync reads the value, so the time of its commit is unknown.
  expect([2, 4].map((value) => committedAt(reader, value))).toEqual([null, expect.any(String)]);
  expect(reader.hasEnded()).toBe(false);
});

test('Live changes over MQTT: changes of a device: published only while a reader of any process follows the device', async () => {
  const client = await connectClient();
  const onWire: Set<string> = new Set();
  client.on('message', (_, payload) => {
    for (const { device, value } of JSON.parse(String(payload))) onWire.add(`${device} ${value}`);
  });
  const topics = ['lonely', 'followed'].map((device) => `iot/live/${idOf(device)}`);
  await client.subscribeAsync(topics, { qos: 1 });
  await follow(left(), '?device=followed');
  let value = 0;
  /** Measures once, and waits until the broker has delivered the change, if it was published. */
  async function measureNext() {
    await measure(client, 'lonely', ++value);
    await until(async () => (await latestOf('lonely')) === value);
    await measure(client, 'followed', value);
    await until(() => onWire.has(`followed ${value}`));
  }
  const countLonely = () => [...onWire].filter((change) => change.startsWith('lonely ')).length;
  // A process that has just connected publishes all changes, until all readers have announced themselves.
  await until(async () => {
    const before = countLonely();
    for (let count = 0; count < 5; count++) await measureNext();
    return countLonely() === before;
  });
  const first = value + 1;
  for (let count = 0; count < 5; count++) await measureNext();
  const reader = await follow(right(), '?device=lonely');
  await until(async () => {
    await measureNext();
    return received(reader).has(`lonely ${value}`);
  });
  const silent = Array.from({ length: 4 }, (_, index) => `lonely ${first + index}`);
  expect(silent.filter((change) => onWire.has(change))).toEqual([]);
});

/** @returns the stored value of its sensor */
async function latestOf(device: string): Promise<number | undefined> {
  const { text } = await send(left().httpUrl, `/api/v1/latest?device=${device}`);
  return JSON.parse(text).items[0]?.value;
}

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { MqttClient } from 'mqtt';
import { type Identity, identifyDevice } from '../../schema/ids.ts';
import { type EventStream, openStream } from '../support/http/event-stream.ts';
import { send } from '../support/http/index.ts';
import { startGate } from '../support/http/tcp-gate.ts';
import { readMetric } from '../support/metrics.ts';
import { type ApiProcess, startApi } from '../support/processes/api-process.ts';
import { useInstallation } from '../support/processes/installation.ts';
import { until } from '../support/until.ts';

/** A resync, every 30 s, delivers a lost change. */
const RESYNCED_WITHIN_MS = 120_000;

const START_LIMIT = { withinMs: 120_000 };

const { settings, start, broker, connectClient, afterwards } = useInstallation({
  CURSOR_SECRET: 'one secret for all',
});

const BASE = Date.now() - 600_000;

let left: ApiProcess;
let right: ApiProcess;
let ingest: ApiProcess;
const processes: ApiProcess[] = [];
beforeAll(async () => {
  async function startRole(role: string) {
    const api = await startApi({ ...settings(), ROLE: role }, START_LIMIT);
    processes.push(api);
    return api;
  }
  [left, right, ingest] = await Promise.all([startRole('http'), startRole('http'), startRole('ingest')]);
}, 3 * START_LIMIT.withinMs);
afterAll(() => Promise.all(processes.map((api) => api.kill())));

async function follow({ httpUrl }: ApiProcess, query: string = '') {
  const stream = await openStream(`${httpUrl}/api/v1/stream${query}`);
  afterwards(() => stream.close());
  await stream.first('snapshot');
  return stream;
}

const measure = (client: MqttClient, device: string, value: number) =>
  client.publishAsync(
    `iot/v1/${device}/measurements`,
    JSON.stringify({ sensor_id: 's', ts: BASE + value, value }),
    { qos: 1 },
  );

const received = (stream: EventStream): Set<string> =>
  new Set(stream.items('delta').map(({ device, value }) => `${device} ${value}`));

const newest = (stream: EventStream) => stream.events.findLast(({ event }) => event === 'stats')?.data;

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

test('Live changes: two HTTP processes: every reader of /stream gets every change of the sensors it selects', async () => {
  const client = await connectClient();
  await Promise.all(['a', 'b'].map((device) => measure(client, device, 0)));
  const fleets = await Promise.all([follow(left), follow(right)]);
  const readers = await Promise.all([follow(left, '?device=a'), follow(right, '?sensor=a/s')]);

  for (let value = 1; value <= 20; value++) {
    await Promise.all(['a', 'b'].map((device) => measure(client, device, value)));
    const all = ['a', 'b'].map((device) => `${device} ${value}`);
    await until(() => fleets.every((fleet) => all.every((change) => received(fleet).has(change))));
    await until(() => readers.every((reader) => received(reader).has(`a ${value}`)));
  }
  for (const reader of readers)
    expect([...received(reader)].filter((change) => !change.startsWith('a '))).toEqual([]);

  // A reader of one process also receives the samples that the other process stores itself.
  const body = JSON.stringify({ sensor_id: 's', ts: BASE + 21, value: 21 });
  await send(left.httpUrl, '/api/v1/measurements?device=a', { method: 'POST', body });
  await until(() => [...fleets, ...readers].every((stream) => received(stream).has('a 21')));
});

test('Ingest figures: two HTTP processes: each returns the figures of all processes together', async () => {
  const client = await connectClient();
  const readers = await Promise.all([follow(left, '?device=busy'), follow(right, '?device=busy')]);
  let value = 0;
  await until(async () => {
    await measure(client, 'busy', value++);
    return readers.every((reader) => newest(reader).samples_per_s > 0);
  });
  await until(async () => {
    const windows = await Promise.all(
      [left, right, ingest].map((api) => readMetric(api, 'iot_ingest_window')),
    );
    const sum = windows.reduce((total, window) => total + window, 0);
    return readers.every((reader) => newest(reader).window === sum);
  });
  for (const reader of readers)
    expect(newest(reader).commit_ms).toEqual({ p50: expect.any(Number), p99: expect.any(Number) });

  // A later client gets the earlier figures.
  for (const api of [left, right]) {
    const { items } = JSON.parse((await send(api.httpUrl, '/api/v1/pipeline/recent')).text);
    expect(items.some(({ samples_per_s }: { samples_per_s: number }) => samples_per_s > 0)).toBe(true);
  }
});

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
  await follow(left, '?device=followed');
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
  const reader = await follow(right, '?device=lonely');
  await until(async () => {
    await measureNext();
    return received(reader).has(`lonely ${value}`);
  });
  const silent = Array.from({ length: 4 }, (_, index) => `lonely ${first + index}`);
  expect(silent.filter((change) => onWire.has(change))).toEqual([]);
});

/** @returns the stored value of its sensor */
async function latestOf(device: string): Promise<number | undefined> {
  const { text } = await send(left.httpUrl, `/api/v1/latest?device=${device}`);
  return JSON.parse(text).items[0]?.value;
}

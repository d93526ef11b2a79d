import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { createProcessStore } from '../../../api/store/processes.ts';
import { createSession } from '../../../api/store/sending/session.ts';
import { useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

const system = useTestSystem({ periods: { heartbeat: 50 } });

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('GET /pipeline: one process runs: the answer has its state, the database nodes, the broker and the settings of ingest', async () => {
  const { processes, database: nodes, broker, packed_until, ingest } = await system.get('/pipeline');
  expect(processes).toEqual([
    {
      client_id: expect.stringMatching(/:\d+$/),
      role: 'all',
      version: 'test',
      since: expect.stringMatching(TIME),
      seen: expect.stringMatching(TIME),
      stale: false,
      samples_per_s: 0,
      commit_ms: { p50: null, p99: null },
      in_flight: expect.any(Number),
      refused_per_s: 0,
      readers: 0,
      measurements: { received: 0, stored: 0, merged: 0, refused: 0, skipped: 0 },
      pressure: { window: expect.any(Number), window_limit: 512, waiting: 0, journal_ms: 0 },
      broker: { ok: true, message: expect.any(String) },
    },
  ]);
  expect(nodes).toEqual({ nodes: [{ address: expect.any(String), data_center: 'datacenter1', up: true }] });
  expect(broker).toEqual({ ok: true, message: expect.any(String) });
  expect(ingest).toEqual({
    auto_register: true,
    mqtt: { embedded: true, host: '127.0.0.1', port: system.mqttPort, tls: false, credentials: false },
  });
  // Packing begins three hours before the first migration.
  expect(Date.parse(packed_until)).toBeLessThan(Date.now() - 3 * 3_600_000);
  const { seen } = processes[0];
  await until(async () => (await system.get('/pipeline')).processes[0].seen > seen);
});

test('GET /pipeline: one client reads the stream and one uses MQTT: the answer has one reader and one MQTT client', async () => {
  const client = await mqtt.connectAsync(system.mqttUrl);
  const leaving = new AbortController();
  await fetch(`${system.httpUrl}/api/v1/stream`, { signal: leaving.signal });
  try {
    const [listed] = await until(async () => {
      const { processes } = await system.get('/pipeline');
      return processes[0].readers === 1 && processes[0].broker.message === '1 client' && processes;
    });
    expect(listed.pressure.window).toBeLessThanOrEqual(listed.pressure.window_limit);
    await until(async () => (await system.get('/pipeline/recent')).items.at(-1).readers === 1);
  } finally {
    leaving.abort();
    await client.endAsync();
  }
  await until(async () => (await system.get('/pipeline')).processes[0].readers === 0);
});

test('GET /pipeline/recent: process runs for seconds: entries are appended in order of time', async () => {
  const recent = async () => (await system.get('/pipeline/recent')).items;
  const [first] = await recent();
  expect(first).toEqual({
    ts: expect.stringMatching(TIME),
    samples_per_s: 0,
    commit_ms: { p50: null, p99: null },
    in_flight: expect.any(Number),
    window: expect.any(Number),
    window_limit: 512,
    waiting: 0,
    journal_ms: 0,
    refused_per_s: 0,
    readers: 0,
  });
  await until(async () => (await recent()).length >= 3);
  const times = (await recent()).map(({ ts }: { ts: string }) => Date.parse(ts));
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times[0]).toBe(Date.parse(first.ts));
});

test('GET /pipeline: process died: listed as stale, its broker check is ignored, and its database row expires', async () => {
  const store = createProcessStore(createSession(await system.openDatabase(), () => {}));
  const seenAt = Date.now() - 60_000;
  const stats = JSON.stringify({
    samples_per_s: 1,
    commit_ms: { p50: 1, p99: 2 },
    in_flight: 0,
    refused_per_s: 0,
    readers: 0,
    window: 8,
    window_limit: 64,
    waiting: 0,
    broker: { ok: false, message: 'does not answer' },
  });
  const died = { clientId: 'died', role: 'ingest', version: 'test', startedAt: seenAt, seenAt, stats };
  await store.write(died);
  const { processes, broker } = await system.get('/pipeline');
  expect(processes.find(({ client_id }: { client_id: string }) => client_id === 'died')).toMatchObject({
    role: 'ingest',
    stale: true,
    seen: new Date(seenAt).toISOString(),
  });
  // The broker check of a dead process is ignored.
  expect(broker).toMatchObject({ ok: true });
  const row = (
    await system.execute(
      "SELECT TTL(stats) AS ttl FROM process WHERE part = 'millrace' AND client_id = 'died'",
    )
  ).first();
  expect(row?.['ttl']).toBeGreaterThan(3500);
  // The broker check of a running process is used.
  await store.write({ ...died, seenAt: Date.now() });
  expect((await system.get('/pipeline')).broker).toEqual({ ok: false, message: 'does not answer' });
  await store.remove('died');
});

test('GET /pipeline: process stops: the database row of the process is removed', async () => {
  const countRows = async () => (await system.execute('SELECT client_id FROM process')).rowLength;
  expect(await countRows()).toBe(1);
  await system.halt();
  expect(await countRows()).toBe(0);
});

import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import pino from 'pino';
import { createBacktest, MAX_EPISODES } from '../../../../api/features/alarms/backtest.ts';
import { routes } from '../../../../api/features/alarms/routes/alarm-rules.ts';
import { createSubjects } from '../../../../api/features/alarms/subjects.ts';
import { createReading, type Reading } from '../../../../api/history/reading/index.ts';
import { createConcurrencyLimits, MAX_CONCURRENT } from '../../../../api/http/long-requests.ts';
import { problemHandler } from '../../../../api/http/problems.ts';
import { bindRoutes, serve } from '../../../../api/http/serve.ts';
import { groupOf } from '../../../../schema/ids.ts';
import { type MemoryAlarms, startMemoryAlarms } from '../../../support/features/alarms/memory-alarms.ts';
import { listening } from '../../../support/http/listening.ts';
import { until } from '../../../support/until.ts';

const MINUTE_MS = 60_000;
const NOW = Date.UTC(2026, 10, 21, 12, 20);

/** Milliseconds that the tests add to the clock. */
let shifted = 0;
let calls = 0;
const clock = () => NOW + shifted + calls++;

let system: MemoryAlarms;
let server: Server;
let url = '';
/** Counts of begun and ended reads of samples. */
const reads = { begun: 0, ended: 0 };
let held: { release: () => void; wait: Promise<void> } | null = null;

function hold() {
  let release = () => {};
  const wait: Promise<void> = new Promise((resolve) => {
    release = resolve;
  });
  held = { release, wait };
}

beforeEach(async () => {
  reads.begun = 0;
  reads.ended = 0;
  system = await startMemoryAlarms({ clock });
  const reading = createReading(system.store);
  const watched: Reading = {
    ...reading,
    async samplesOf(...given) {
      reads.begun++;
      await held?.wait;
      reads.ended++;
      return reading.samplesOf(...given);
    },
  };
  const app = express();
  const guard = () => (_req: unknown, _res: unknown, next: () => void) => next();
  const deps = {
    alarms: {
      backtest: createBacktest({ reading: watched, subjects: createSubjects(system.store, 4), clock }),
    },
    http: { limits: createConcurrencyLimits({ ...MAX_CONCURRENT, queries: 1 }) },
    context: { clock, config: { retention: { historyDays: 90 }, ingest: { maxClockSkewMs: 300_000 } } },
  };
  serve(app, bindRoutes(routes, deps as never), { guard } as never);
  app.use(problemHandler(pino({ level: 'silent' })));
  server = createServer(app);
  url = `http://127.0.0.1:${await listening(server)}/api/v1/alarm-rules/test`;
});
afterEach(async () => {
  held?.release();
  held = null;
  shifted = 0;
  server.closeAllConnections();
  server.close();
  await system.stop();
});

const ask = (condition: object, signal?: AbortSignal) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'a', severity: 'info', scope: { device: 'oven' }, condition }),
    ...(signal && { signal }),
  });

/** @param values one value per minute, the last one now */
const heat = (values: number[]) =>
  system.measure(
    'oven',
    values.map((value, index) => ({
      sensor_id: 'heat',
      ts: NOW - (values.length - 1 - index) * MINUTE_MS,
      value,
    })),
  );

const ABOVE = { kind: 'above', limit: 5 } as const;

test('POST /alarm-rules/test: more alarms than one response may list: items has the first alarms, count includes all alarms', async () => {
  await heat(Array.from({ length: 2 * MAX_EPISODES + 100 }, (_, n) => (n % 2 === 0 ? 9 : 1)));
  const above = await (await ask(ABOVE)).json();
  expect(above).toMatchObject({ count: MAX_EPISODES + 50, total_ms: MAX_EPISODES * MINUTE_MS });
  expect(above.items).toHaveLength(MAX_EPISODES);
  const absent = await (await ask({ kind: 'absent', for_ms: 30_000 })).json();
  expect(absent.count).toBe(2 * MAX_EPISODES + 99);
  expect(absent.items).toHaveLength(MAX_EPISODES);
});

test('POST /alarm-rules/test: samples exist for a part of the range: stored_from and stored_to are the ends of this part', async () => {
  await heat(Array.from({ length: 22 }, () => 1));
  const stored = {
    from: new Date(NOW - 30 * 86_400_000).toISOString().slice(0, 16),
    stored_from: new Date(NOW - 21 * MINUTE_MS).toISOString(),
    stored_to: new Date(NOW).toISOString(),
  };
  for (const condition of [ABOVE, { kind: 'absent', for_ms: 600_000 }, { kind: 'rate', limit: 1 }])
    expect(await (await ask(condition)).json()).toMatchObject({
      ...stored,
      from: expect.stringContaining(stored.from),
    });
});

test('POST /alarm-rules/test: a sensor has never sent: its absence begins with its registration, and its first sample ends it', async () => {
  await system.accept('iot/v1/oven/birth', JSON.stringify({ sensors: [{ sensor_id: 'heat' }] }));
  const { device: bytes } = system.keyOf('oven', 'heat');
  const [row] = await system.store.devices.sensors({ group: groupOf(bytes, 4), bytes });
  const registered = Number(row?.registeredAt);
  const absent = async () => (await ask({ kind: 'absent', for_ms: 10 * MINUTE_MS })).json();
  const started_at = new Date(registered).toISOString();
  expect(await absent()).toMatchObject({ count: 0, sensors: 1, stored_from: null });
  shifted = 15 * MINUTE_MS;
  expect(await absent()).toMatchObject({ count: 1, items: [{ started_at, cleared_at: null }] });
  const ts = registered + 12 * MINUTE_MS;
  await system.measure('oven', [{ sensor_id: 'heat', ts, value: 1 }]);
  const cleared_at = new Date(ts).toISOString();
  expect(await absent()).toMatchObject({ count: 1, items: [{ started_at, cleared_at }] });
  await system.measure('oven', [{ sensor_id: 'heat', ts: registered + 6 * MINUTE_MS, value: 1 }]);
  expect(await absent()).toMatchObject({ count: 0, items: [] });
});

test('POST /alarm-rules/test: the client disconnects: no further samples are read, and the next request gets 200', async () => {
  await heat(Array.from({ length: 600 }, () => 9));
  hold();
  const leaving = new AbortController();
  let isClosed = false;
  server.once('request', (_req, res) =>
    res.once('close', () => {
      isClosed = true;
    }),
  );
  const first = ask(ABOVE, leaving.signal).catch(() => null);
  await until(() => reads.begun > 0);
  leaving.abort();
  await first;
  await until(() => isClosed);
  held?.release();
  // The next test is accepted only after the canceled one has stopped reading.
  await until(async () => (await ask({ kind: 'absent', intervals: 3 })).status === 200);
  expect(reads).toEqual({ begun: 1, ended: 1 });
});

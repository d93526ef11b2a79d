import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import express from 'express';
import pino from 'pino';
import { createConcurrencyLimits, MAX_CONCURRENT } from '../../../../api/http/long-requests.ts';
import { problemHandler } from '../../../../api/http/problems.ts';
import { createStream } from '../../../../api/http/stream/index.ts';
import { createLocalTransport } from '../../../../api/live/hub.ts';
import { NOBODY } from '../../../../api/live/index.ts';
import type { LiveItem } from '../../../../api/live/messages.ts';
import { createMetrics } from '../../../../api/observability/metrics.ts';
import { statsOf } from '../../../../api/observability/process-stats.ts';
import { identifySensor, type SensorIdentity } from '../../../../schema/ids.ts';
import { type EventStream, openStream } from '../../../support/http/event-stream.ts';
import { listening } from '../../../support/http/listening.ts';
import { useDevice, useStore, useTestSystem } from '../../../support/system/use.ts';
import { until } from '../../../support/until.ts';

const SENSORS = 2000;
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const BASE = Date.now() - 3_600_000;

/** Short periods, so that no reader waits for a second. */
const PERIODS = { coalesce: 5, stats: 20, heartbeat: 50, rest: 60_000 };

const system = useTestSystem();
const store = useStore(system);
const device = useDevice(system);

let live: ReturnType<typeof createLocalTransport>;
let missed: Set<() => void>;
let stream: ReturnType<typeof createStream>;
let server: Server;
let url: string;
let opened: EventStream[];

/** Replaces the access guard. */
const asAnybody: RequestHandler = (_req, res, next) => {
  res.locals['caller'] = { by: 'anybody', scopes: [], endsAt: null };
  next();
};

/** Serves only the stream. @param options ms; `limit` of readers */
async function serve({
  resync = 60_000,
  periods,
  limit = 10_000,
}: {
  resync?: number;
  periods?: Partial<typeof PERIODS>;
  limit?: number;
} = {}) {
  missed = new Set();
  live = createLocalTransport({ followers: NOBODY, send: () => {} });
  live.onMissed = (listener) => {
    missed.add(listener);
    return () => void missed.delete(listener);
  };
  stream = createStream(
    {
      store,
      limits: createConcurrencyLimits({ ...MAX_CONCURRENT, streams: limit }),
      live,
      stats: { read: () => statsOf([]), health: () => [] },
      resyncMs: resync,
      clock: Date.now,
      logger: pino({ level: 'silent' }),
      metrics: createMetrics({ version: 'test', role: 'http' }),
    },
    { ...PERIODS, ...periods },
  );
  const app = express().get('/api/v1/stream', asAnybody, stream.handler);
  app.use(problemHandler(pino({ level: 'silent' })));
  server = createServer(app);
  url = `http://127.0.0.1:${await listening(server)}/api/v1/stream`;
}

beforeEach(() => {
  opened = [];
});
afterEach(async () => {
  for (const reader of opened) reader.close();
  stream.stop();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function open(query: string = '', lastId?: string) {
  const headers: Record<string, string> = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
  const reader = await openStream(url + query, { headers });
  opened.push(reader);
  return reader;
}

const item = (value: number, name: string = 's') => ({
  device_id: ID,
  sensor_id: (identifySensor(ID, name) as SensorIdentity).id,
  device: 'd',
  name,
  type: null,
  unit: null,
  site: null,
  ts: new Date(BASE + value).toISOString(),
  value,
});

const publish = (items: LiveItem[], device: string = ID) => live.publish(device, items, performance.now());

/** Publishes a new value for every sensor of a fleet. */
const publishAll = (value: number) =>
  publish(Array.from({ length: SENSORS }, (_, index) => item(value, `sensor-${index}`)));

const values = (reader: EventStream) => reader.items('delta').map(({ value }) => value);

const lastId = (reader: EventStream): string =>
  String(reader.events.findLast(({ id }) => id !== undefined)?.id);

const connections = async () =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

test('Event stream: one reader does not read: the server closes its connection, and other readers continue', async () => {
  // This period is long enough for a reader on a busy machine, which shares its thread with the publisher.
  await serve({ periods: { heartbeat: 2000 } });
  const reader = await open();
  const idle = connect(Number(new URL(url).port), '127.0.0.1');
  idle.on('error', () => {}); // The test waits until the server drops this connection.
  idle.pause();
  idle.write('GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await until(async () => (await connections()) === 2);
  await reader.first('snapshot');

  let value = 0;
  await until(
    async () => {
      publishAll(++value);
      return (await connections()) === 1;
    },
    { what: 'the idle reader being dropped' },
  );
  const last = ++value;
  publishAll(last);
  await until(() => [...reader.state().values()].filter((state) => state.value === last).length === SENSORS);
  expect(reader.hasEnded()).toBe(false);
  idle.destroy();
});

test('Event stream: reader reconnects with Last-Event-ID: it gets each change once, without a snapshot', async () => {
  await serve();
  const before = await open(`?device=${ID}`);
  await before.first('snapshot');
  publish([item(1, 'a'), item(1, 'b')]);
  await until(() => before.items('delta').length === 2);
  before.close();

  // While the reader is away, one sensor changes twice, one does not change, and one is new.
  publish([item(2, 'a'), item(2, 'c')]);
  publish([item(3, 'a')]);
  const after = await open(`?device=${ID}`, lastId(before));
  await until(() => after.items('delta').length > 0);
  publish([item(4, 'b')]);
  await until(() => values(after).includes(4));
  expect(after.items('snapshot')).toEqual([]);
  expect(after.items('delta').map(({ name, value }) => `${name} ${value}`)).toEqual(['a 3', 'c 2', 'b 4']);
});

test('Event stream: connection broke within an event of several parts: the whole event is sent again', async () => {
  await serve();
  const reader = await open(`?device=${ID}`);
  const { id } = await reader.first('snapshot');
  publishAll(1);
  await until(() => reader.items('delta').length === SENSORS);
  const deltas = reader.events.filter(({ event }) => event === 'delta');
  // A reader that got all parts except the last still has the id of the snapshot.
  const parts = deltas.slice(0, -1);
  expect(parts.length).toBeGreaterThan(0);
  expect(parts.map((delta) => delta.id)).toEqual(parts.map(() => undefined));
  expect(deltas.at(-1)?.id).toBe(lastId(reader));
  const again = await open(`?device=${ID}`, id);
  await until(() => again.items('delta').length === SENSORS);
  expect(again.items('snapshot')).toEqual([]);
});

test.each([
  ['the whole fleet', ''],
  ['a device', '?device=healed'],
  ['a sensor', '?sensor=healed/s'],
])(
  'Event stream of %s: a live message was lost: the next check of the database sends the value once',
  async (_, query) => {
    await device.measure('healed', [{ sensor_id: 's', ts: BASE, value: 0 }]);
    await serve({ resync: 40 });
    const reader = await open(query);
    await reader.first('snapshot');
    const { value: before } = (await system.get('/latest?device=healed')).items[0];
    await device.measure('healed', [{ sensor_id: 's', ts: BASE + before + 1, value: before + 1 }]);
    await until(() => values(reader).includes(before + 1));
    const count = reader.events.length;
    await until(() => reader.events.length > count + 10);
    expect(values(reader)).toEqual([before + 1]);
  },
);

test('Event stream: live messages may be lost: the database is read at once', async () => {
  await serve({ resync: 3_600_000 });
  const reader = await open('?device=missed');
  await reader.first('snapshot');
  await device.measure('missed', [{ sensor_id: 's', ts: BASE, value: 5 }]);
  for (const listener of missed) listener();
  await until(() => values(reader).includes(5));
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import pino from 'pino';
import { createStream } from '../../../api/http/stream/index.js';
import { createLive } from '../../../api/live.js';
import { createMetrics } from '../../../api/metrics.js';
import { connectStore } from '../../../api/store/index.js';
import { createVitals } from '../../../api/vitals.js';
import { openStream } from '../../support/event-stream.js';
import { startTestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const SENSORS = 2000;
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

/** @type {import('../../support/system.js').TestSystem} whose keyspace is read here */
let system;
/** @type {import('../../../api/store/index.js').Store} */
let store;
beforeAll(async () => {
  system = await startTestSystem();
  store = await connectStore({
    ...system.config,
    observe: () => {},
    onStaleIndex: () => {},
  });
});
afterAll(async () => {
  await store?.close();
  await system?.stop();
});

/** @type {import('../../../api/live.js').Live} */
let live;
/** @type {ReturnType<typeof createStream>} */
let stream;
/** @type {import('node:http').Server} */
let server;
/** @type {string} */
let url;
beforeEach(async () => {
  live = createLive();
  const metrics = createMetrics({ version: 'test', role: 'http' });
  const vitals = createVitals({ clock: Date.now, inFlight: () => 0 });
  const { latestGroups: groups } = system.config.retention;
  const logger = pino({ level: 'silent' });
  // The stream alone, with its clockwork quickened.
  const periods = { coalesce: 5, stats: 20, heartbeat: 50 };
  stream = createStream({ store, live, vitals, groups, logger, metrics }, periods);
  server = createServer(express().get('/stream', stream.handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  url = `http://127.0.0.1:${port}/stream`;
});
afterEach(async () => {
  stream.stop();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Every sensor of a fleet gets a new value. @param {number} value */
function publishAll(value) {
  live.publish(
    Array.from({ length: SENSORS }, (_, at) => ({
      device_id: ID,
      sensor_id: `${ID.slice(0, -4)}${String(at).padStart(4, '0')}`,
      device: 'd',
      name: `n${at}`,
      type: null,
      unit: null,
      site: null,
      ts: value,
      value,
    })),
  );
}

const connections = async () =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

test('a quiet stream carries comments', async () => {
  const reader = await openStream(url);
  await until(() => reader.comments() >= 3);
  reader.close();
});

test('a reader that does not read is dropped; the others go on', async () => {
  const reader = await openStream(url);
  const idle = connect(Number(new URL(url).port), '127.0.0.1');
  idle.on('error', () => {}); // That it is dropped is what is waited for.
  idle.pause();
  idle.write('GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
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
  await until(() => [...reader.state().values()].filter((item) => item.value === last).length === SENSORS);
  expect(reader.hasEnded()).toBe(false);
  idle.destroy();
  reader.close();
});

test('what a reader has left is released', async () => {
  const readers = await Promise.all(Array.from({ length: 20 }, () => openStream(url)));
  await Promise.all(readers.map((reader) => reader.first('snapshot')));
  expect(live.listening).toBe(true);
  for (const reader of readers) reader.close();
  await until(() => !live.listening);
});

test('a stop ends every stream, also those that still read their snapshot', async () => {
  const ready = await openStream(url);
  await ready.first('snapshot');
  const early = await openStream(url);
  stream.stop();
  await until(() => ready.hasEnded() && early.hasEnded());
  expect(live.listening).toBe(false);
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { startTestEngine } from '../support/database/engine.js';
import { track } from '../support/database/track.js';
import { publishEndlessly } from '../support/http/endless-load.js';
import { expectProblem, send } from '../support/http/index.js';
import { readMetric } from '../support/metrics.js';
import { BASE, publishValues, storedValues, zeroTo } from '../support/mqtt/external-broker.js';
import { startTestSystem } from '../support/system/index.js';
import { until } from '../support/until.js';

/** @import { TestEngine } from '../support/database/engine.js' */
/** @import { TestSystem } from '../support/system/index.js' */

// A database boots for ten seconds, and again after a stop. So all tests share one outage of one database.

const DEVICES = zeroTo(5).map((index) => `device-${index}`);

/** Run after the last test, in reverse order. @type {Array<() => unknown>} */
const cleanUps = [];
/** @type {TestEngine} */
let engine;
/** Receives single messages, and requests of readers. @type {TestSystem} */
let quiet;
/** Receives as much as it can store. @type {TestSystem} */
let loaded;
/** Messages of the first system during the outage. @type {Array<ReturnType<typeof track>>} */
let messages = [];
/** The load of each device of the second system. @type {Array<ReturnType<typeof publishEndlessly>>} */
let loads = [];

beforeAll(async () => {
  engine = await startTestEngine();
  cleanUps.push(() => engine.dispose());
  const settings = { CQL_CONTACT_POINTS: engine.contactPoint };
  quiet = await startTestSystem({ settings });
  cleanUps.push(() => quiet.stop());
  loaded = await startTestSystem({ settings, onFatal: () => {} });
  cleanUps.push(() => loaded.stop());

  const client = await connectDevice(quiet, 'quiet');
  await publishValues(client, 'quiet', [0]);
  const clients = await Promise.all(DEVICES.map((device) => connectDevice(loaded, device)));
  loads = clients.map((each, index) =>
    publishEndlessly(each, { device: String(DEVICES[index]), base: BASE }),
  );
  await until(() => acknowledged().every((count) => count > 100));

  await engine.stop();
  messages = zeroTo(20).map((value) => track(() => publishValues(client, 'quiet', [value])));
});
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** @param {TestSystem} system @param {string} clientId */
async function connectDevice({ mqttUrl }, clientId) {
  const client = await mqtt.connectAsync(mqttUrl, { clientId, clean: false, reconnectPeriod: 100 });
  client.on('error', () => {});
  cleanUps.push(() => client.endAsync(true));
  return client;
}

const acknowledged = () => loads.map((load) => load.acknowledged);

/** @param {TestSystem} system */
const retriesOf = (system) => readMetric(system, 'iot_ingest_retries_total');

async function readiness() {
  const { status, text } = await send(quiet.httpUrl, '/readyz');
  return { status, ...JSON.parse(text) };
}

test('HTTP API: the database is away: requests get 503 with Retry-After; /healthz answers 200, and /readyz 503', async () => {
  for (const path of ['/latest', '/devices', '/devices/quiet', '/devices/quiet/sensors/s/measurements']) {
    const answer = await send(quiet.httpUrl, `/api/v1${path}`);
    expectProblem(answer, 503, 'unavailable');
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  }
  expect(await send(quiet.httpUrl, '/healthz')).toMatchObject({ status: 200, text: '{"status":"alive"}' });
  const state = await until(async () => {
    const now = await readiness();
    return !now.ready && now;
  });
  expect(state).toMatchObject({ status: 503, checks: { database: { ok: false } } });
});

test('Ingest: database is away: no PUBACK arrives', async () => {
  await until(async () => (await retriesOf(quiet)) > 20);
  expect(messages.filter(({ isAcknowledged }) => isAcknowledged())).toEqual([]);
});

test('Ingest: database stops under load: no PUBACK arrives while the database is away', async () => {
  const untilRetried = async () => {
    const before = await retriesOf(loaded);
    await until(async () => (await retriesOf(loaded)) > before + 20);
  };
  // All earlier commits have been acknowledged by then.
  await untilRetried();
  const before = acknowledged();
  await untilRetried();
  expect(acknowledged()).toEqual(before);
});

describe('The database is back', () => {
  /** Messages that each device has sent. @type {number[]} */
  let sent = [];
  beforeAll(async () => {
    await engine.start();
    sent = await Promise.all(loads.map((load) => load.end()));
  });

  test('Ingest: database returns: the PUBACK of every waiting message arrives, and every sample is stored', async () => {
    await Promise.all(messages.map((message) => message.acknowledged));
    expect(await storedValues(quiet, 'quiet')).toEqual(zeroTo(20));
  });

  test('Ingest: database returns under load: every sample is acknowledged and stored', async () => {
    for (const [index, device] of DEVICES.entries())
      expect(await storedValues(loaded, device)).toEqual(zeroTo(Number(sent[index])));
    await until(async () => (await readMetric(loaded, 'iot_ingest_in_flight')) === 0);
    expect(await readMetric(loaded, 'iot_ingest_unsettled_bytes')).toBe(0);
  });

  test('Readiness: database returns: /readyz answers 200, and requests are answered', async () => {
    await until(async () => (await readiness()).ready);
    await until(async () => (await send(quiet.httpUrl, '/api/v1/latest')).status === 200);
  });
});

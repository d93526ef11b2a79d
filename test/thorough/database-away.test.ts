import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { startTestEngine, type TestEngine } from '../support/database/engine.ts';
import { track } from '../support/database/track.ts';
import { publishEndlessly } from '../support/http/endless-load.ts';
import { expectProblem, send } from '../support/http/index.ts';
import { readMetric } from '../support/metrics.ts';
import { BASE, publishValues, storedValues, zeroTo } from '../support/mqtt/external-broker.ts';
import { startTestSystem, type TestSystem } from '../support/system/index.ts';
import { until } from '../support/until.ts';

// A database boots for ten seconds, and again after a stop. So all tests share one outage of one database.

const DEVICES = zeroTo(5).map((index) => `device-${index}`);

/** Run after the last test, in reverse order. */
const cleanUps: Array<() => unknown> = [];
let engine: TestEngine;
/** Receives single messages, and requests of readers. */
let quiet: TestSystem;
/** Receives as much as it can store. */
let loaded: TestSystem;
let messages: Array<ReturnType<typeof track>> = [];
let loads: Array<ReturnType<typeof publishEndlessly>> = [];

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

async function connectDevice({ mqttUrl }: TestSystem, clientId: string) {
  const client = await mqtt.connectAsync(mqttUrl, { clientId, clean: false, reconnectPeriod: 100 });
  client.on('error', () => {});
  cleanUps.push(() => client.endAsync(true));
  return client;
}

const acknowledged = () => loads.map((load) => load.acknowledged);

const retriesOf = (system: TestSystem) => readMetric(system, 'iot_ingest_retries_total');

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
  let sent: number[] = [];
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

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { connect } from '../../api/store/connect.js';
import { migrateDatabase } from '../../api/store/migrate.js';
import { readSettings } from '../../common/settings.js';
import { startApi } from '../support/api-process.js';
import { sharedContactPoint, uniqueName } from '../support/engine.js';
import { send } from '../support/http.js';
import { readMetric } from '../support/metrics.js';
import { freePort, startMosquitto } from '../support/mosquitto.js';
import { until } from '../support/until.js';

const DEVICES = 4;
const MESSAGES = 500;

/** @type {import('../support/mosquitto.js').Mosquitto} */
let broker;
/** @type {Record<string, string>} what the processes of one installation share */
let installation;
beforeAll(async () => {
  broker = await startMosquitto();
  installation = {
    CQL_CONTACT_POINTS: sharedContactPoint(),
    CQL_KEYSPACE: uniqueName('t'),
    MQTT_URL: broker.url,
    HTTP_PORT: '0',
    CURSOR_SECRET: 'one secret for all',
    LATEST_GROUPS: '4',
    LOG_LEVEL: 'info',
  };
  await migrateDatabase(readSettings(installation, { envFile: '' }));
});
afterAll(async () => {
  await broker?.remove();
  const { cql } = readSettings(installation, { envFile: '' });
  const admin = await connect(cql);
  try {
    await admin.execute(`DROP KEYSPACE ${cql.keyspace}`, [], { prepare: false, readTimeout: 60_000 });
  } finally {
    await admin.shutdown();
  }
});

/** @type {Array<() => Promise<unknown>>} */
const cleanUps = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** @param {Record<string, string>} settings on top of the installation's */
async function start(settings) {
  const api = await startApi({ ...installation, ...settings });
  cleanUps.push(() => api.kill());
  return api;
}

const startIngest = (/** @type {string} */ id) => start({ ROLE: 'ingest', MQTT_CLIENT_ID: id });

/** @param {import('../support/api-process.js').ApiProcess} api */
async function readiness({ httpUrl }) {
  const { status, text } = await send(httpUrl, '/readyz');
  return { status, checks: Object.keys(JSON.parse(text).checks).sort() };
}

test('one that serves and two that take messages share the load; no row is lost or doubled', async () => {
  const [http, ...ingest] = await Promise.all([
    start({ ROLE: 'http' }),
    startIngest('ingest-1'),
    startIngest('ingest-2'),
  ]);
  const client = await mqtt.connectAsync(broker.url);
  cleanUps.push(() => client.endAsync(true));
  const base = Date.now() - 600_000;
  const names = Array.from({ length: DEVICES }, (_, i) => `d${i}`);
  const values = Array.from({ length: MESSAGES }, (_, i) => i);
  await Promise.all(
    names.flatMap((name) =>
      values.map((value) =>
        client.publishAsync(
          `iot/v1/${name}/measurements`,
          JSON.stringify({ sensor_id: 's', ts: base + value, value }),
          { qos: 1 },
        ),
      ),
    ),
  );

  /** @param {string} name */
  async function stored(name) {
    const path = `/api/v1/devices/${name}/sensors/s/measurements?from=${base}&order=asc&limit=1000`;
    const response = await fetch(`${http.httpUrl}${path}`);
    if (response.status !== 200) return [];
    return /** @type {any} */ (await response.json()).items.map((/** @type {any} */ item) => item.value);
  }
  for (const name of names) {
    await until(async () => (await stored(name)).length >= MESSAGES, { what: `the measurements of ${name}` });
    expect(await stored(name)).toEqual(values);
  }
  const counts = await Promise.all(ingest.map((api) => readMetric(api, 'iot_ingest_samples_total')));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(DEVICES * MESSAGES);
  for (const count of counts) expect(count).toBeGreaterThan(0);

  const { cql } = readSettings(installation, { envFile: '' });
  const database = await connect(cql, { keyspace: cql.keyspace });
  cleanUps.push(() => database.shutdown());
  const { rows } = await database.execute('SELECT count(*) AS n FROM measurement_batch');
  expect(Number(rows[0]?.['n'])).toBe(DEVICES * MESSAGES);
});

test('one that takes messages tells how it is, and serves nothing else', async () => {
  const api = await startIngest('ingest-1');
  expect(await readiness(api)).toEqual({
    status: 200,
    checks: ['acknowledgements', 'broker', 'clock', 'database'],
  });
  expect((await send(api.httpUrl, '/healthz')).status).toBe(200);
  expect((await send(api.httpUrl, '/metrics')).text).toContain('role="ingest"');
  for (const path of ['/', '/index.html', '/api/v1/latest', '/api/v1/devices', '/api/v1/stream']) {
    expect((await send(api.httpUrl, path)).status).toBe(404);
  }
});

test('one that serves needs no broker, and no acknowledgements', async () => {
  const nobody = `mqtt://127.0.0.1:${await freePort()}`;
  const api = await start({ ROLE: 'http', MQTT_URL: nobody });
  expect(await readiness(api)).toEqual({ status: 200, checks: ['clock', 'database'] });
  expect((await send(api.httpUrl, '/')).status).toBe(200);
  expect((await send(api.httpUrl, '/api/v1/latest')).status).toBe(200);
  api.signal('SIGTERM');
  expect((await api.ended).code).toBe(0);
});

import { expect, test } from '@jest/globals';
import { connect } from '../../api/store/connect.ts';
import { steadyPort } from '../../infra/engine/ports.ts';
import { visitBlock } from '../../schema/packed/block.ts';
import { send } from '../support/http/index.ts';
import { readMetric } from '../support/metrics.ts';
import type { ApiProcess } from '../support/processes/api-process.ts';
import { useInstallation } from '../support/processes/installation.ts';
import { until } from '../support/until.ts';

const DEVICES = 4;
const MESSAGES = 500;

const { start, connectClient, cql, afterwards } = useInstallation({ CURSOR_SECRET: 'one secret for all' });

const startIngest = (id: string) => start({ ROLE: 'ingest', MQTT_CLIENT_ID: id });

async function readiness({ httpUrl }: ApiProcess) {
  const { status, text } = await send(httpUrl, '/readyz');
  return { status, checks: Object.keys(JSON.parse(text).checks).sort() };
}

test('Processes with roles: one http and two ingest processes: they share the load, and each sample is stored once', async () => {
  const [http, ...ingest] = await Promise.all([
    start({ ROLE: 'http' }),
    startIngest('ingest-1'),
    startIngest('ingest-2'),
  ]);
  const client = await connectClient();
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

  async function stored(name: string) {
    const path = `/api/v1/devices/${name}/sensors/s/measurements?from=${base}&order=asc&limit=1000`;
    const response = await fetch(`${http.httpUrl}${path}`);
    if (response.status !== 200) return [];
    return (await response.json()).items.map((item: Record<string, unknown>) => item.value);
  }
  for (const name of names) {
    await until(async () => (await stored(name)).length >= MESSAGES, { what: `the measurements of ${name}` });
    expect(await stored(name)).toEqual(values);
  }
  const counts = await Promise.all(ingest.map((api) => readMetric(api, 'iot_ingest_samples_total')));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(DEVICES * MESSAGES);
  for (const count of counts) expect(count).toBeGreaterThan(0);

  const database = await connect(cql(), { keyspace: cql().keyspace, applicationName: 'test' });
  afterwards(() => database.shutdown());
  // Ingest merges messages that wait together into one row, so the test counts samples and not rows.
  const { rows } = await database.execute('SELECT bucket, samples FROM message', [], { fetchSize: 5000 });
  let samples = 0;
  for (const row of rows) {
    visitBlock(row['bucket'].getTime(), row['samples'], (_, series) => {
      samples += series().times.length;
    });
  }
  expect(samples).toBe(DEVICES * MESSAGES);
});

test('Process with the role ingest: HTTP requests: only health and metrics are served, other paths answer 404', async () => {
  const api = await startIngest('ingest-1');
  expect(await readiness(api)).toEqual({
    status: 200,
    checks: ['acknowledgements', 'broker', 'clock', 'database'],
  });
  expect((await send(api.httpUrl, '/healthz')).status).toBe(200);
  expect((await send(api.httpUrl, '/metrics')).text).toContain('role="ingest"');
  for (const path of ['/', '/index.html', '/api/v1/latest', '/api/v1/measurements', '/api/v1/stream']) {
    expect((await send(api.httpUrl, path, { isReader: false })).status).toBe(404);
  }
});

test('Process with the role http: MQTT broker is unreachable: the process is ready, and stores posted samples', async () => {
  const closedPort = `mqtt://127.0.0.1:${await steadyPort()}`;
  const api = await start({ ROLE: 'http', MQTT_URL: closedPort });
  expect(await readiness(api)).toEqual({ status: 200, checks: ['clock', 'database', 'live'] });
  expect((await send(api.httpUrl, '/')).status).toBe(200);
  expect((await send(api.httpUrl, '/api/v1/latest')).status).toBe(200);

  // The HTTP process stores posted samples itself.
  const body = JSON.stringify({ sensor_id: 's', ts: Date.now(), value: 42 });
  const posted = await send(api.httpUrl, '/api/v1/measurements?device=posted', { method: 'POST', body });
  expect(posted).toMatchObject({ status: 200, text: '{"accepted":1}' });
  const path = '/api/v1/devices/posted/sensors/s';
  expect(JSON.parse((await send(api.httpUrl, path)).text)).toMatchObject({ value: 42 });
  api.signal('SIGTERM');
  expect((await api.ended).code).toBe(0);
});

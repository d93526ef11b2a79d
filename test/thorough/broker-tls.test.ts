import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { certificatesFolder } from '../support/certificates.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { sharedContactPoint } from '../support/database/engine.ts';
import { useKeyspace } from '../support/database/keyspace.ts';
import { readMetric } from '../support/metrics.ts';
import { type Mosquitto, startMosquitto } from '../support/mqtt/mosquitto.ts';
import { startApi, startCommand } from '../support/processes/api-process.ts';
import { until } from '../support/until.ts';

const certificates = certificatesFolder();
const afterwards = useCleanUps();
let own: Awaited<ReturnType<typeof certificates.make>>;
let broker: Mosquitto;
let settings: Record<string, string>;
let keyspace: Awaited<ReturnType<typeof useKeyspace>>;

beforeAll(async () => {
  own = await certificates.make();
  broker = await startMosquitto({ tls: own });
  settings = {
    CQL_CONTACT_POINTS: sharedContactPoint(),
    MQTT_URL: broker.url,
    MQTT_TLS_CA: own.ca,
    HTTP_PORT: '0',
    LATEST_GROUPS: '2',
  };
  keyspace = await useKeyspace(settings);
  settings['CQL_KEYSPACE'] = keyspace.config.cql.keyspace;
});
afterAll(async () => {
  await broker?.remove();
  await keyspace?.use.release();
  certificates.remove();
});

test('MQTT broker with TLS: MQTT_TLS_CA has the authority: ingest, the connection for live values and --drain connect', async () => {
  const api = await startApi(settings);
  afterwards(() => api.kill());
  const device = await mqtt.connectAsync(broker.url, { ca: own.authority });
  afterwards(() => device.endAsync(true));
  const payload = JSON.stringify({ sensor_id: 'torque', value: 4.2 });
  await device.publishAsync('iot/v1/press/measurements', payload, { qos: 1 });
  await until(async () => {
    const { items } = await (await fetch(`${api.httpUrl}/api/v1/latest`)).json();
    return items.length === 1;
  });
  expect(await (await fetch(`${api.httpUrl}/readyz`)).json()).toMatchObject({
    checks: { broker: { ok: true }, live: { ok: true } },
  });
  const expires = await readMetric(api, 'iot_tls_certificate_expires_seconds{purpose="mqtt_ca"}');
  expect(expires).toBeGreaterThan(Date.now() / 1000);
  api.signal('SIGTERM');
  expect((await api.ended).code).toBe(0);

  await device.publishAsync('iot/v1/press/measurements', payload, { qos: 1 });
  const drained = await startCommand('api/index.ts', settings, ['--drain']).ended;
  expect(drained).toMatchObject({ code: 0, output: expect.stringContaining('1 messages settled') });
});

test.each(['another authority', 'no authority'])(
  'MQTT broker with TLS: MQTT_TLS_CA has %s: exit code 72, and the error names the setting',
  async (which) => {
    const { MQTT_TLS_CA: _, ...none } = settings;
    const other = await certificates.make('other', { renew: true });
    const command = startCommand('api/index.ts', {
      ...none,
      ...(which === 'no authority' ? {} : { MQTT_TLS_CA: other.ca }),
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    });
    afterwards(() => command.kill());
    const { code, output } = await command.ended;
    const authority =
      which === 'no authority' ? 'an authority that is known here, and no file' : 'the authority';
    expect(output).toContain(
      `is not to be trusted: its certificate is not signed by ${authority} in MQTT_TLS_CA`,
    );
    expect(code).toBe(72);
  },
);

import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { startTestEngine, uniqueName } from '../../support/database/engine.ts';
import { listening } from '../../support/http/listening.ts';
import { startAlertmanager, startPrometheus } from '../../support/monitoring/servers.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { startApi } from '../../support/processes/api-process.ts';
import { until } from '../../support/until.ts';

const ALERT = 'MillraceDatabaseNodeDown';
const BOOTS_MS = 120_000;

const afterwards = useCleanUps();

/** Records the notifications of Alertmanager, e.g. `night firing MillraceDatabaseNodeDown`. */
async function startReceiver() {
  const notifications: Set<string> = new Set();
  const server = createServer(async (req, res) => {
    const { alerts } = (await json(req)) as { alerts: { status: string; labels: { alertname: string } }[] };
    for (const { status, labels } of alerts)
      notifications.add(`${req.url?.slice(1)} ${status} ${labels.alertname}`);
    res.end();
  });
  const port = await listening(server);
  afterwards(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}`, notifications };
}

test('Prometheus alert: the database stops: the alert reaches the receiver night, and resolves after the database returns', async () => {
  const engine = await startTestEngine();
  afterwards(() => engine.dispose());
  const settings = {
    CQL_CONTACT_POINTS: engine.contactPoint,
    CQL_KEYSPACE: uniqueName('t'),
    HTTP_PORT: '0',
    MQTT_PORT: '0',
    LATEST_GROUPS: '4',
  };
  await migrateDatabase(readSettings(settings, { envFile: '' }));
  // A separate process, because the driver (4.10) leaves timers behind for nodes that it lost and found again.
  const system = await startApi(settings);
  afterwards(() => system.kill());
  const receiver = await startReceiver();
  const alertmanager = await startAlertmanager({ webhooks: receiver.url });
  afterwards(() => alertmanager.stop());
  const prometheus = await startPrometheus({ target: system.httpUrl, alertmanager: alertmanager.url });
  afterwards(() => prometheus.stop());
  const device = await connectDevice(system);
  afterwards(() => device.end());

  // Before the failure, Prometheus scrapes the process and evaluates the rules, and this alert does not fire.
  await device.measure('cow', [{ sensor_id: 'pulse', ts: Date.now(), value: 61 }]);
  await until(async () => (await prometheus.ask('iot_ingest_samples_total')) === 1);
  await until(async () => (await prometheus.ask('job:iot_ingest_samples:rate5m')) !== null);
  expect(await prometheus.ask('iot_db_nodes{state="up"}')).toBe(1);
  expect(await prometheus.brokenRules()).toEqual([]);
  // On a machine that stalls, a slow scrape or commit is an alert of its own.
  expect(await alertmanager.active()).not.toContain(ALERT);
  expect([...receiver.notifications]).not.toContain(`night firing ${ALERT}`);

  await engine.stop();
  await until(async () => (await alertmanager.active()).includes(ALERT), { withinMs: BOOTS_MS });
  await until(() => receiver.notifications.has(`night firing ${ALERT}`));

  await engine.start();
  await until(() => receiver.notifications.has(`night resolved ${ALERT}`), { withinMs: BOOTS_MS });
  await until(async () => !(await alertmanager.active()).includes(ALERT), { withinMs: BOOTS_MS });
  await until(async () => (await prometheus.ask('iot_db_nodes{state="up"}')) === 1);
}, 400_000);

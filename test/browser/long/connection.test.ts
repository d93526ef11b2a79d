import { beforeEach, test } from '@jest/globals';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { sharedContactPoint } from '../../support/database/engine.ts';
import { startGate } from '../../support/http/tcp-gate.ts';
import { startApi } from '../../support/processes/api-process.ts';
import { startTestSystem } from '../../support/system/index.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const DEVICES = ['boiler', 'chiller', 'pump'];
let now = Date.now() - 3_600_000;

const dashboard = useDashboard({ fill: () => measureAll(1) });
const afterwards = useCleanUps();

async function measureAll(value: number) {
  for (const device of DEVICES) await dashboard.publish(device, { sensor_id: 'load', ts: now++, value });
}

const untilConnection = (text: string) =>
  dashboard.page.locator('.connection').filter({ hasText: text }).waitFor();

/** @param value expected in the row of every device */
async function untilAllShow(value: number) {
  for (const device of DEVICES) {
    const row = dashboard.rows().filter({ hasText: device });
    await row.getByText(String(value), { exact: true }).waitFor();
  }
}

/** Opens the fleet at the URL of a proxy. */
async function openAt(url: string) {
  await dashboard.page.goto(url);
  await dashboard.untilRows(DEVICES.length);
  await untilConnection('Live');
}

/** The browser console lists the failed requests that these tests cause. Other complaints are errors. */
beforeEach(() =>
  dashboard.expectComplaints(
    /^Failed to load resource: (net::ERR_|the server responded with a status of 503)/,
  ),
);

test.each(['refuse', 'silence'] as const)(
  'Dashboard: connection to the API is lost (proxy set to %s): Reconnecting is shown, then every missed value',
  async (cut) => {
    const gate = await startGate(dashboard.system.httpUrl);
    afterwards(() => gate.stop());
    await measureAll(10);
    await openAt(gate.url);
    await untilAllShow(10);

    gate.cut(cut);
    await untilConnection('Reconnecting');
    await measureAll(20);
    await gate.open();
    await untilConnection('Live');
    await untilAllShow(20);
    await measureAll(30);
    await untilAllShow(30);
  },
);

test('Dashboard: the API restarts: shown values stay, and values stored during the restart appear without a reload', async () => {
  const settings = {
    CQL_KEYSPACE: dashboard.system.config.cql.keyspace,
    HTTP_PORT: String(await steadyPort()),
  };
  const before = await startTestSystem({ settings });
  await measureAll(40);
  await openAt(before.httpUrl).finally(before.halt);
  await untilConnection('Reconnecting');
  await measureAll(50);
  await untilAllShow(40);

  const after = await startTestSystem({ settings });
  afterwards(() => after.halt());
  await untilConnection('Live');
  await untilAllShow(50);
});

test('Dashboard: the database does not answer: a message is shown, and the fleet page loads after recovery', async () => {
  const gate = await startGate(`tcp://${sharedContactPoint()}`);
  afterwards(() => gate.stop());
  // The API runs in its own process, because a driver that has lost its only node keeps a process alive.
  const api = await startApi({
    CQL_KEYSPACE: dashboard.system.config.cql.keyspace,
    CQL_CONTACT_POINTS: `127.0.0.1:${gate.port}`,
    LATEST_GROUPS: '4',
    HTTP_PORT: '0',
    MQTT_PORT: '0',
  });
  afterwards(() => api.kill());
  await openAt(api.httpUrl);

  gate.cut('refuse');
  await dashboard.page.goto(`${api.httpUrl}/?name=load`);
  await dashboard.page.getByText(/^The database has not answered for \d+ \w+( \d+ \w+)?\./).waitFor();
  await measureAll(60);
  await gate.open();
  await dashboard.page.locator('table.sensors').waitFor();
  await untilAllShow(60);
  await untilConnection('Live');
});

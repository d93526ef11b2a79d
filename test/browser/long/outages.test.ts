import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sharedContactPoint } from '../../support/database/engine.ts';
import { type Gate, startGate } from '../../support/http/tcp-gate.ts';
import { type Mosquitto, startMosquitto } from '../../support/mqtt/mosquitto.ts';
import { startTestSystem } from '../../support/system/index.ts';
import { startBrowser } from '../../support/web/browser.ts';
import { Dashboard } from '../../support/web/dashboard.ts';

const dashboard = new Dashboard();
let broker: Mosquitto;
let database: Gate;

beforeAll(async () => {
  broker = await startMosquitto();
  database = await startGate(`cql://${sharedContactPoint()}`);
  const settings = {
    MQTT_URL: broker.url,
    MQTT_CLIENT_ID: 'millrace-1',
    CQL_CONTACT_POINTS: `127.0.0.1:${database.port}`,
  };
  dashboard.system = await startTestSystem({ settings, periods: { heartbeat: 200 } });
  dashboard.browser = await startBrowser();
  await dashboard.open();
});
afterAll(async () => {
  await dashboard.opened?.close();
  await dashboard.browser?.stop();
  await database?.open();
  await dashboard.system?.stop();
  await database?.stop();
  await broker?.remove();
});

const stage = (name: string) => dashboard.page.locator(`.stage[data-stage="${name}"]`);
const allIsWell = () => dashboard.page.getByText('✓ All is well').waitFor();

test('Pipeline page: the MQTT broker stops: the page shows the broker as not connected until it is back', async () => {
  await dashboard.visit('/pipeline');
  await allIsWell();
  await broker.stop();
  await dashboard.page.getByText(/the broker is out of reach \(not connected/).waitFor();
  await stage('broker').getByText('✕ not connected').waitFor();
  await broker.start();
  await allIsWell();
  expect(dashboard.takeComplaints()).toEqual([]);
});

test('Pipeline page: the database does not answer: a message is shown, and the last figures stay until recovery', async () => {
  await dashboard.visit('/pipeline');
  await allIsWell();
  database.cut('refuse');
  await stage('database').getByText('✕ does not answer').waitFor();
  await dashboard.page.getByRole('table', { name: 'Processes' }).waitFor();
  await dashboard.lookAt('pipeline-outage');
  await database.open();
  await allIsWell();
  // The browser console lists each answer with status 503.
  expect(dashboard.takeComplaints().filter((text) => !text.includes('503'))).toEqual([]);
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { migrateDatabase } from '../../../api/store/migrate.js';
import { readSettings } from '../../../common/settings/index.js';
import { startApi } from '../../support/api-process.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { sharedContactPoint, uniqueName } from '../../support/engine.js';
import { createFloods } from '../../support/floods.js';
import { startHealthProbe } from '../../support/health-probe.js';
import { dropKeyspace } from '../../support/keyspace.js';
import { until } from '../../support/until.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { ApiProcess } from '../../support/api-process.js' */

/**
 * No client may stall the process for longer than 250 ms. The tests share two cores with the flood, the database and other
 * processes. They therefore allow five times as long, or half of the time that the whole flood takes. Before the broker
 * sliced its reads, these floods took 3 to 7 s, and one answer took nearly all of it.
 */
const STALL_MS = 5 * 250;
const STALL_SHARE = 1 / 2;

const afterwards = useCleanUps();

/** @type {ApiProcess} */
let api;
/** @type {Config} */
let config;
beforeAll(async () => {
  const settings = {
    CQL_CONTACT_POINTS: sharedContactPoint(),
    CQL_KEYSPACE: uniqueName('t'),
    MQTT_PORT: '0',
    HTTP_PORT: '0',
    LATEST_GROUPS: '4',
  };
  config = readSettings(settings, { envFile: '' });
  await migrateDatabase(config);
  api = await startApi(settings);
});
afterAll(async () => {
  await api?.kill();
  if (config) await dropKeyspace(config.cql);
});

const floods = () => createFloods(Number(new URL(api.mqttUrl).port), afterwards);

/** Requests /healthz during the whole flood. @param {() => Promise<unknown>} flood */
async function expectAnswersDuring(flood) {
  const probe = startHealthProbe(`${api.httpUrl}/healthz`);
  const startedAt = performance.now();
  await flood();
  const totalMs = performance.now() - startedAt;
  const longestMs = Math.max(...(await probe.stop()));
  expect(longestMs).toBeLessThan(Math.max(STALL_MS, STALL_SHARE * totalMs));
}

test.each([
  ['10 connections with 10,000 SUBSCRIBE each', () => floods().subscribe(10, 10_000)],
  ['4 connections with 50,000 UNSUBSCRIBE each', () => floods().unsubscribe(4, 50_000)],
  ['20 connections with 32,768 PINGREQ each', () => floods().ping(20, 32_768)],
  ['4 connections with 48,000 PUBREL, PUBACK and PUBREC each', () => floods().acknowledge(4, 48_000)],
  ['CONNECT with 10,000 SUBSCRIBE in the same write', () => floods().subscribeAtOnce(4, 10_000)],
])('Flood: %s in one write: the process answers others meanwhile', async (_, flood) => {
  await expectAnswersDuring(flood);
});

test('Flood: 10,000 connections with a last will break off at once: the process answers others meanwhile', async () => {
  const breakOff = await floods().prepareWills(10_000);
  const clients = async () => {
    const { checks } = /** @type {any} */ (await (await fetch(`${api.httpUrl}/readyz`)).json());
    return JSON.stringify(checks).match(/(\d+) clients?/)?.[1];
  };
  expect(await clients()).toBe('10000');
  await expectAnswersDuring(async () => {
    breakOff();
    await until(async () => (await clients()) === '0');
  });
});

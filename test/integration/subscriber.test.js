import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { migrateDatabase } from '../../api/store/migrate.js';
import { readSettings } from '../../common/settings.js';
import { startApi, startCommand } from '../support/api-process.js';
import { startCqlWire } from '../support/cql-wire.js';
import { sharedContactPoint, uniqueName } from '../support/engine.js';
import { freePort, startMosquitto } from '../support/mosquitto.js';
import { startMqttWire } from '../support/mqtt-wire.js';
import { startTestSystem } from '../support/system.js';
import { until } from '../support/until.js';

/** @type {Array<() => Promise<unknown> | void>} */
const cleanUps = [];
/** @type {import('../support/mosquitto.js').Mosquitto} */
let broker;
beforeEach(async () => {
  broker = await startMosquitto();
  cleanUps.push(() => broker.remove());
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** @param {Record<string, string>} [settings] @param {Partial<import('../../api/periods.js').Periods>} [periods] */
async function startSystem(settings, periods) {
  const system = await startTestSystem({ settings: { MQTT_URL: broker.url, ...settings }, periods });
  cleanUps.push(() => system.stop());
  return system;
}

async function startCql() {
  const cql = await startCqlWire(sharedContactPoint());
  cleanUps.push(() => cql.stop());
  return cql;
}

async function startWire() {
  const wire = await startMqttWire(broker.url);
  cleanUps.push(() => wire.stop());
  return wire;
}

async function connectDevice() {
  const client = await mqtt.connectAsync(broker.url, { reconnectPeriod: 100 });
  client.on('error', () => {}); // The broker is stopped and started under test; the client comes back.
  cleanUps.push(() => client.endAsync(true));
  return client;
}

const base = Date.now() - 600_000;
const zeroTo = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i);

/** @param {import('mqtt').MqttClient} client @param {string} device @param {number[]} values @param {string} [filler] */
const publish = (client, device, values, filler = '') =>
  Promise.all(
    values.map((value) =>
      client.publishAsync(
        `iot/v1/${device}/measurements`,
        JSON.stringify({ sensor_id: 's', ts: base + value, value }) + filler,
        { qos: 1 },
      ),
    ),
  );

/** @param {import('../support/system.js').TestSystem} system @param {string} device @returns {Promise<number[]>} */
async function storedValues(system, device) {
  const path = `/devices/${device}/sensors/s/measurements`;
  const response = await system.fetch(path);
  if (response.status === 404) return [];
  const items = await system.all(`${path}?from=${base}&order=asc&limit=1000`);
  return items.map(({ value }) => value);
}

const isSamples = (/** @type {import('../support/cql-wire.js').WireRequest} */ { statements }) =>
  statements.some(({ cql }) => cql.startsWith('INSERT INTO measurement_batch'));

test('measurements, births and status come in from an external broker', async () => {
  const system = await startSystem();
  const client = await connectDevice();
  const session = Date.now();
  const birth = { session, name: 'd', site: 'barn', sensors: [{ sensor_id: 's', type: 'Temperature' }] };
  await client.publishAsync('iot/v1/d/birth', JSON.stringify(birth), { qos: 1 });
  await client.publishAsync('iot/v1/d/status', JSON.stringify({ state: 'online', session }), { qos: 1 });
  await publish(client, 'd', [0, 1, 2]);
  await until(async () => (await storedValues(system, 'd')).length === 3);
  await until(async () => (await system.get('/devices/d')).online);
  expect(await system.get('/devices/d')).toMatchObject({
    site: 'barn',
    sensors: [expect.objectContaining({ type: 'Temperature', value: 2 })],
  });
});

describe('acknowledgements, as the wire shows them', () => {
  test('none before its commit, the next message meanwhile; then all, in order of arrival', async () => {
    const cql = await startCql();
    const wire = await startWire();
    const system = await startSystem({ MQTT_URL: wire.url, CQL_CONTACT_POINTS: cql.contactPoint });
    const client = await connectDevice();
    await publish(client, 'd', [0]);
    await until(() => wire.last().acknowledged.length === 1);

    // Of the first the answer is kept back, those behind it are committed.
    let first = true;
    cql.hold((request) => {
      const hold = isSamples(request) && first;
      if (hold) first = false;
      return hold;
    });
    await publish(client, 'd', [1]);
    await until(() => cql.held() === 1);
    await publish(client, 'd', [2, 3, 4]);
    await until(async () => (await storedValues(system, 'd')).length === 5);
    const { delivered, acknowledged } = wire.last();
    expect(delivered).toHaveLength(5);
    expect(acknowledged).toHaveLength(1);

    cql.release();
    await until(() => acknowledged.length === 5);
    expect(acknowledged).toEqual(delivered);
  });

  test('what a broken connection was owed comes again, and is acknowledged on the new one', async () => {
    const cql = await startCql();
    const wire = await startWire();
    const system = await startSystem({ MQTT_URL: wire.url, CQL_CONTACT_POINTS: cql.contactPoint });
    const client = await connectDevice();
    await publish(client, 'd', [0]);
    await until(() => wire.last().acknowledged.length === 1);
    cql.hold(isSamples);
    await publish(client, 'd', [1, 2, 3]);
    await until(() => cql.held() >= 3);
    const before = wire.last();
    wire.cut();
    await until(() => wire.connections.length === 2 && wire.last().delivered.length === 3);
    expect(before.acknowledged).toHaveLength(1);
    expect(wire.last().acknowledged).toEqual([]);
    cql.release();
    await until(() => wire.last().acknowledged.length === 3);
    expect(wire.last().acknowledged).toEqual(wire.last().delivered);
    expect(await storedValues(system, 'd')).toEqual([0, 1, 2, 3]);
  });

  test('past the bound nothing more is read, and memory holds; then everything is stored', async () => {
    const cql = await startCql();
    const wire = await startWire();
    const system = await startSystem({ MQTT_URL: wire.url, CQL_CONTACT_POINTS: cql.contactPoint });
    const client = await connectDevice();
    await publish(client, 'd', [0]);
    await until(() => wire.last().acknowledged.length === 1);
    cql.hold(isSamples);
    // 40 MB; 16 MB may be unsettled.
    const values = zeroTo(100).map((i) => i + 1);
    await publish(client, 'd', values, ' '.repeat(400_000));
    const unsettled = async () => {
      const text = await (await fetch(`${system.httpUrl}/metrics`)).text();
      return Number(/^iot_ingest_unsettled_bytes (\S+)$/m.exec(text)?.[1]);
    };
    // Mosquitto keeps to its 20 in flight, or to our receive maximum.
    await until(async () => (await unsettled()) > 4_000_000 || wire.last().delivered.length >= 41);
    expect(await unsettled()).toBeLessThan(18_000_000);
    expect(wire.last().acknowledged).toHaveLength(1);
    cql.release();
    await until(async () => (await storedValues(system, 'd')).length === 101);
    await until(() => wire.last().acknowledged.length === 101);
    expect(wire.last().acknowledged).toEqual(wire.last().delivered);
  });

  test.each([
    ['many messages: as many as the broker may have unacknowledged', 600, 0],
    ['large messages: nothing more is read', 30, 1_000_000],
  ])('a database that hangs for several keepalives costs no connection, %s', async (_, count, bytes) => {
    const cql = await startCql();
    const wire = await startWire();
    // Few requests at a time: a driver of which dozens time out takes the database for dead, and that is another story.
    const settings = {
      MQTT_URL: wire.url,
      CQL_CONTACT_POINTS: cql.contactPoint,
      INGEST_MAX_IN_FLIGHT: '8',
    };
    const system = await startSystem(settings, { keepAlive: 4000 });
    const client = await connectDevice();
    await publish(client, 'd', [0]);
    await until(() => wire.last().acknowledged.length === 1);
    cql.hold(isSamples);
    const values = zeroTo(count).map((i) => i + 1);
    await publish(client, 'd', values, ' '.repeat(bytes));
    await until(() => cql.held() > 0);
    // There is one every keepalive at least.
    const before = wire.last().pings;
    await until(() => wire.last().pings >= before + 4);
    expect(wire.last().acknowledged).toHaveLength(1);

    cql.release();
    await until(() => wire.last().acknowledged.length === count + 1);
    expect(wire.connections).toHaveLength(1);
    expect(wire.last().delivered).toHaveLength(count + 1);
    expect(wire.last().acknowledged).toEqual(wire.last().delivered);
    await until(async () => (await storedValues(system, 'd')).length === count + 1);
  });

  test('an orderly stop takes nothing more, acknowledges what it took, and leaves the rest to the session', async () => {
    const cql = await startCql();
    const wire = await startWire();
    const settings = { MQTT_URL: wire.url, CQL_CONTACT_POINTS: cql.contactPoint };
    const system = await startSystem(settings);
    const client = await connectDevice();
    await publish(client, 'd', [0]);
    await until(() => wire.last().acknowledged.length === 1);
    cql.hold(isSamples);
    await publish(client, 'd', [1, 2]);
    await until(() => cql.held() >= 2);
    const before = wire.last();
    const halted = system.halt();
    await publish(client, 'd', [3, 4]);
    await until(() => before.delivered.length === 5);
    cql.release();
    await halted;
    expect(before.acknowledged).toEqual(before.delivered.slice(0, 3));

    const { config } = system;
    const again = await startSystem({ ...settings, CQL_KEYSPACE: config.cql.keyspace });
    await until(() => wire.last().acknowledged.length === 2);
    expect(await storedValues(again, 'd')).toEqual([0, 1, 2, 3, 4]);
  });
});

test('goes on after the broker was stopped and started in order, with what was unacknowledged', async () => {
  const cql = await startCql();
  const system = await startSystem({ CQL_CONTACT_POINTS: cql.contactPoint });
  const client = await connectDevice();
  await publish(client, 'd', [0]);
  await until(async () => (await storedValues(system, 'd')).length === 1);
  cql.hold(isSamples);
  await publish(client, 'd', [1, 2, 3]);
  await until(() => cql.held() >= 3);
  await broker.stop();
  await until(async () => (await fetch(`${system.httpUrl}/readyz`)).status === 503);
  cql.release();
  await broker.start();
  await until(async () => (await fetch(`${system.httpUrl}/readyz`)).status === 200);
  // Not before: Mosquitto 2.0.11 keeps the session and its queue, and forgets that the subscription was shared.
  await publish(client, 'd', [4, 5]);
  await until(async () => (await storedValues(system, 'd')).length === 6);
});

test('a retained status comes with the first subscription, says nothing of now, and not again', async () => {
  const wire = await startWire();
  const client = await connectDevice();
  const session = Date.now();
  const status = JSON.stringify({ state: 'online', session });
  const birth = JSON.stringify({ session, sensors: [{ sensor_id: 's' }] });
  await client.publishAsync('iot/v1/d/birth', birth, { qos: 1, retain: true });
  await client.publishAsync('iot/v1/d/status', status, { qos: 1, retain: true });
  const system = await startSystem({ MQTT_URL: wire.url });
  await until(async () => (await system.fetch('/devices/d')).status === 200);
  await until(async () => (await system.get('/devices/d')).online);
  expect((await system.get('/devices/d')).last_seen).toBe(null);
  await until(() => wire.last().acknowledged.length === 2);
  wire.cut();
  await until(() => wire.connections.length === 2);
  await publish(client, 'other', [0]);
  await until(() => wire.last().acknowledged.length === 1);
  expect(wire.last().delivered).toHaveLength(1);
  expect((await system.get('/devices/d')).last_seen).toBe(null);
});

describe('as a process', () => {
  /** @param {Record<string, string>} [more] */
  async function settingsFor(more) {
    const settings = {
      CQL_CONTACT_POINTS: sharedContactPoint(),
      CQL_KEYSPACE: uniqueName('t'),
      MQTT_URL: broker.url,
      MQTT_CLIENT_ID: 'ingest-1',
      HTTP_PORT: '0',
      ...more,
    };
    await migrateDatabase(readSettings(settings, { envFile: '' }));
    return settings;
  }

  test('a second one of the same client id ends the first, with an exit code of its own', async () => {
    const settings = await settingsFor();
    const first = await startApi(settings);
    cleanUps.push(() => first.kill());
    const second = await startApi(settings);
    cleanUps.push(() => second.kill());
    const { code, output } = await first.ended;
    expect(code).toBe(64);
    expect(output).toContain('Another process uses the client id ingest-1');
    expect((await fetch(`${second.httpUrl}/readyz`)).status).toBe(200);
  });

  /** @param {Record<string, string>} settings */
  async function failToStart(settings) {
    const api = startCommand('api/index.js', { ...settings, LOG_LEVEL: 'error' });
    cleanUps.push(() => api.kill());
    const { code, output } = await api.ended;
    expect(code).toBe(72);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(output).toContain('MQTT_URL');
    return output;
  }

  test('a broker that is away at the start: one clear sentence', async () => {
    const nobody = `mqtt://localhost:${await freePort()}`;
    expect(await failToStart(await settingsFor({ MQTT_URL: nobody }))).toContain('ECONNREFUSED');
  });

  test('a wrong password: one clear sentence', async () => {
    const guarded = await startMosquitto({ users: { ingest: 'right' } });
    cleanUps.push(() => guarded.remove());
    const settings = await settingsFor({
      MQTT_URL: guarded.url,
      MQTT_USERNAME: 'ingest',
      MQTT_PASSWORD: 'wrong',
    });
    expect(await failToStart(settings)).toContain('MQTT_PASSWORD');
    const right = await startApi({ ...settings, MQTT_PASSWORD: 'right' });
    cleanUps.push(() => right.kill());
  });
});

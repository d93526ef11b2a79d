import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../support/clean-ups.js';
import { startCqlWire } from '../support/cql-wire.js';
import { sharedContactPoint, startTestEngine } from '../support/engine.js';
import { startTestSystem } from '../support/system.js';
import { until } from '../support/until.js';

const LOCAL_QUORUM = 6;

const afterwards = useCleanUps();

/** @param {string} contactPoint */
async function startSystem(contactPoint) {
  const system = await startTestSystem({ settings: { CQL_CONTACT_POINTS: contactPoint } });
  afterwards(() => system.stop());
  const client = await mqtt.connectAsync(system.mqttUrl);
  afterwards(() => client.endAsync(true));
  /** @param {string} device @param {string} kind @param {unknown} payload */
  const publish = (device, kind, payload) =>
    client.publishAsync(`iot/v1/${device}/${kind}`, JSON.stringify(payload), { qos: 1 });
  return { system, publish };
}

test('every request is prepared, at LOCAL_QUORUM, of one partition of one table, and filters nothing', async () => {
  const wire = await startCqlWire(sharedContactPoint());
  afterwards(() => wire.stop());
  const { system, publish } = await startSystem(wire.contactPoint);
  const began = wire.requests.length;

  const now = Date.now();
  const sensors = ['a', 'b', 'c'].map((name) => ({
    sensor_id: name,
    name,
    type: `Type ${name}`,
    site: 'barn',
  }));
  const samples = (/** @type {number} */ hours) =>
    sensors.flatMap(({ sensor_id }) =>
      Array.from({ length: 30 }, (_, i) => ({ sensor_id, ts: now - i * hours * 60_000, value: i })),
    );
  for (const device of ['d1', 'd2']) {
    await publish(device, 'birth', { session: now, name: device, site: 'barn', sensors });
    await publish(device, 'status', { state: 'online', session: now });
  }
  await Promise.all(
    ['d1', 'd2', 'unheard-of', 'd1'].flatMap((device) => [
      publish(device, 'measurements', samples(1)),
      publish(device, 'measurements', samples(20)),
      publish(device, 'measurements', [{ sensor_id: 'a', ts: now, value: 'no number' }]),
    ]),
  );
  for (const path of [
    '/latest?limit=1',
    '/latest?type=Type%20a',
    '/latest?site=barn&type=Type%20b',
    '/latest?name=a',
    '/devices?limit=1',
    '/devices?state=online',
  ]) {
    await system.all(path);
  }
  await system.get('/devices/d1');
  await system.get('/devices/d1/sensors/a');
  await system.all('/devices/d1/sensors/a/measurements?limit=7');

  const requests = wire.requests.slice(began);
  // What the driver asks for by itself is of the system's own tables.
  const ours = requests.filter(
    ({ kind, statements }) => kind !== 'query' || !/\bFROM system/i.test(String(statements[0]?.cql)),
  );
  expect(ours.filter(({ kind }) => kind === 'query')).toEqual([]);
  expect(ours.filter(({ consistency }) => consistency !== LOCAL_QUORUM)).toEqual([]);
  expect(ours.filter(({ statements }) => statements.some(({ cql }) => /ALLOW FILTERING/i.test(cql)))).toEqual(
    [],
  );

  const batches = ours.filter(({ kind }) => kind === 'batch');
  expect(batches.length).toBeGreaterThan(0);
  for (const { logged, statements } of batches) {
    expect(logged).toBe(false);
    expect(new Set(statements.map(({ table, partition }) => `${table} ${partition}`)).size).toBe(1);
    expect(statements[0]?.partition).not.toBe('');
  }
  // Each table that holds something was spoken to, so nothing above is true for want of requests.
  const written = new Set(
    ours
      .flatMap(({ statements }) => statements)
      .filter(({ cql }) => /^(INSERT|UPDATE)/.test(cql))
      .map(({ table }) => table.split('.')[1]),
  );
  expect([...written].sort()).toEqual([
    'dead_letter',
    'device',
    'latest',
    'measurement_batch',
    'sensor_by_name',
    'sensor_by_site',
    'sensor_by_type',
  ]);
});

test('single statements of one read name a whole partition', async () => {
  const wire = await startCqlWire(sharedContactPoint());
  afterwards(() => wire.stop());
  const { system, publish } = await startSystem(wire.contactPoint);
  await publish('d', 'measurements', { sensor_id: 's', ts: Date.now(), value: 1 });
  const began = wire.requests.length;
  await system.all('/latest');
  await system.all('/devices');
  await system.all('/devices/d/sensors/s/measurements');
  const statements = wire.requests
    .slice(began)
    .filter(({ kind }) => kind === 'execute')
    .flatMap((request) => request.statements)
    .filter(({ table }) => !table.startsWith('system.'));
  expect(statements.length).toBeGreaterThan(0);
  // The server says which values make the partition key; a scan would have none.
  expect(statements.filter(({ partition }) => partition === '')).toEqual([]);
});

test('connections are closed when the system stops', async () => {
  const wire = await startCqlWire(sharedContactPoint());
  afterwards(() => wire.stop());
  const { system } = await startSystem(wire.contactPoint);
  expect(wire.connections()).toBeGreaterThan(0);
  await system.halt();
  await until(() => wire.connections() === 0);
});

test('an engine that is killed under load leaks no permit, and is found again within seconds', async () => {
  const engine = await startTestEngine();
  afterwards(() => engine.dispose());
  const { system, publish } = await startSystem(engine.contactPoint);
  const metric = async (/** @type {string} */ name) => {
    const text = await (await fetch(`${system.httpUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const now = Date.now();
  await publish('d', 'measurements', { sensor_id: 's', ts: now, value: 0 });
  const load = Array.from({ length: 1000 }, (_, i) =>
    publish(`d${i % 50}`, 'measurements', { sensor_id: 's', ts: now + i, value: i }),
  );
  await until(async () => (await metric('iot_ingest_in_flight')) > 0);
  engine.kill();
  await until(async () => (await metric('iot_ingest_retries_total')) > 100);
  await until(async () => (await fetch(`${system.httpUrl}/readyz`)).status === 503);
  const startAgain = () =>
    engine.start().then(
      () => true,
      () => false,
    );
  // Killed, its keeper needs a moment to let go of the directory.
  await until(startAgain, { withinMs: 120_000 });
  // The driver's own pause between two attempts would have grown to minutes by then.
  const isReady = async () => (await fetch(`${system.httpUrl}/readyz`).catch(() => null))?.status === 200;
  await until(isReady, { withinMs: 20_000 });
  await Promise.all(load);
  await until(async () => (await metric('iot_ingest_in_flight')) === 0);
  expect(await metric('iot_ingest_unsettled_bytes')).toBe(0);
}, 180_000);

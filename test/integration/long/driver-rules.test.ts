import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { SENT_REQUESTS } from '../../../api/store/driver-policies.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { startCqlProxy } from '../../support/database/cql-proxy.ts';
import { sharedContactPoint } from '../../support/database/engine.ts';
import { recordOf, type SentRecord } from '../../support/query-rules/record.ts';
import { violations } from '../../support/query-rules/rules.ts';
import { startTestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';

const LOCAL_QUORUM = 6;

const afterwards = useCleanUps();

async function startSystem(contactPoint: string) {
  const system = await startTestSystem({ settings: { CQL_CONTACT_POINTS: contactPoint } });
  afterwards(() => system.stop());
  const client = await mqtt.connectAsync(system.mqttUrl);
  afterwards(() => client.endAsync(true));
  const publish = (device: string, kind: string, payload: unknown) =>
    client.publishAsync(`iot/v1/${device}/${kind}`, JSON.stringify(payload), { qos: 1 });
  return { system, publish };
}

/** Publishes births, statuses, timely, late and invalid measurements, and reads by every kind of request. */
async function exercise({ system, publish }: Awaited<ReturnType<typeof startSystem>>) {
  const now = Date.now();
  const sensors = ['a', 'b', 'c'].map((name) => ({
    sensor_id: name,
    name,
    type: `Type ${name}`,
    site: 'barn',
  }));
  const samples = (hours: number) =>
    sensors.flatMap(({ sensor_id }) =>
      Array.from({ length: 30 }, (_, i) => ({ sensor_id, ts: now - i * hours * 60_000, value: i })),
    );
  for (const device of ['d1', 'd2']) {
    await publish(device, 'birth', { session: now, name: device, site: 'barn', sensors });
    await publish(device, 'status', { state: 'online', session: now });
  }
  await Promise.all(
    ['d1', 'd2', 'new', 'd1'].flatMap((device) => [
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
    '/devices?site=barn',
    '/devices/d1/events?limit=1',
    '/devices/d1/sensors/a/measurements?limit=7',
  ]) {
    await system.all(path);
  }
  await system.get('/devices/d1');
  await system.get('/devices/d1/sensors/a');
  await system.get('/fleet');
  await system.get('/pipeline');
  await system.fetch('/devices/d2', { method: 'DELETE' });
}

function recordRequests() {
  const records: SentRecord[] = [];
  const record = (request: unknown) => void records.push(recordOf(request as never));
  subscribe(SENT_REQUESTS, record);
  afterwards(() => unsubscribe(SENT_REQUESTS, record));
  return records;
}

/** The driver reads the system tables of the server by itself. The rules do not apply to those requests. */
const isOfDriver = (cql: string) => /\bFROM system/i.test(cql) || /^USE /.test(cql);

test('Query rules: every kind of database request runs: neither the driver nor the CQL packets show a violation', async () => {
  const proxy = await startCqlProxy(sharedContactPoint());
  afterwards(() => proxy.stop());
  const requests = recordRequests();
  const started = await startSystem(proxy.contactPoint);
  const requestsBefore = proxy.requests.length;
  await exercise(started);
  await started.system.halt();

  expect(violations(requests)).toEqual([]);

  const sent = proxy.requests
    .slice(requestsBefore)
    .filter(({ statements }) => !statements.some(({ cql }) => isOfDriver(cql)));
  expect(sent.filter(({ kind }) => kind === 'query')).toEqual([]);
  expect(sent.filter(({ consistency }) => consistency !== LOCAL_QUORUM)).toEqual([]);
  expect(sent.filter(({ logged }) => logged)).toEqual([]);
  // The server reports the values of the partition key. A scan has none, and each statement of a batch has one.
  expect(sent.flatMap(({ statements }) => statements).filter(({ partition }) => partition === '')).toEqual(
    [],
  );
  const scattered = sent.filter(
    ({ statements }) => new Set(statements.map(({ table, partition }) => `${table} ${partition}`)).size > 10,
  );
  expect(scattered).toEqual([]);

  // The hook that checks all other tests of the run has seen every request.
  const texts = (requests: string[][]) =>
    requests
      .filter((statements) => !statements.some(isOfDriver))
      .map((statements) => [...new Set(statements)].sort().join('; '))
      .sort();
  expect(texts(requests.map(({ statements }) => statements))).toEqual(
    texts(proxy.requests.map(({ statements }) => statements.map(({ cql }) => cql))),
  );

  // Each table was written, so the checks above had requests to check.
  const written = new Set(
    proxy.requests
      .flatMap(({ statements }) => statements)
      .filter(({ cql }) => /^(INSERT|UPDATE)/.test(cql))
      .map(({ table }) => table?.split('.')[1]),
  );
  expect([...written]).toEqual(
    expect.arrayContaining([
      'dead_letter',
      'device',
      'device_by_site',
      'device_event',
      'history',
      'history_stat',
      'latest',
      'message',
      'process',
      'sensor_by_name',
      'sensor_by_site',
      'sensor_by_type',
    ]),
  );
});

test('Database connections: the process stops: every connection is closed', async () => {
  const proxy = await startCqlProxy(sharedContactPoint());
  afterwards(() => proxy.stop());
  const { system } = await startSystem(proxy.contactPoint);
  expect(proxy.connections()).toBeGreaterThan(0);
  await system.halt();
  await until(() => proxy.connections() === 0);
});

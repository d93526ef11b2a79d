import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { types as DriverTypes } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import type { Store } from '../../../api/store/index.ts';
import { groupOf, type Identity, identifyDevice, uuidText } from '../../../schema/ids.ts';
import { type Piece, packBlock, visitBlock } from '../../../schema/packed/block.ts';
import { bucketOf } from '../../../schema/rules.ts';
import { createDevice } from '../../../simulator/device.ts';
import { headerLine } from '../../../simulator/ledger/format.ts';
import { Ledger } from '../../../simulator/ledger/ledger.ts';
import { createMeter } from '../../../simulator/meter.ts';
import { encodeSenml } from '../../../simulator/payloads/senml.ts';
import { compareLedger, openStore } from '../../../simulator/verify/compare.ts';
import { openHistory } from '../../support/history/index.ts';
import { startCommand } from '../../support/processes/api-process.ts';
import { startSimulator } from '../../support/processes/simulator-process.ts';
import { useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

const { types } = cassandra;

const system = useTestSystem();
let store: Store;
let directory: string;
let ledgerPath: string;
const started: { kill: () => Promise<unknown> }[] = [];

/** The tests change the stored data of the second device. The other devices stay as they are. */
const DEVICE = 'collar-0002';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-ledger-'));
  ledgerPath = join(directory, 'fleet.ledger');
  store = await openStore(system.config);
  system.beforeStop(() => store.close());
  const fleet = ['--broker', system.mqttUrl, '--devices', '3', '--sensors', '2', '--seed', '5'];
  const pace = ['--interval', '20ms', '--batch', '100ms', '--duration', '2s', '--ledger', ledgerPath];
  const simulator = startSimulator([...fleet, ...pace]);
  started.push(simulator);
  expect((await simulator.ended).code).toBe(0);
});
afterAll(async () => {
  await Promise.all(started.map((process) => process.kill()));
  await rm(directory, { recursive: true, force: true });
});

const compare = (options?: Partial<Parameters<typeof compareLedger>[0]>) =>
  compareLedger({ ledgerPath, store, groups: system.config.retention.latestGroups, ...options });

/** The number of differences of each kind. */
const countDifferences = ({ found }: Awaited<ReturnType<typeof compare>>) =>
  Object.fromEntries(
    Object.entries(found)
      .filter(([, { count }]) => count > 0)
      .map(([kind, { count }]) => [kind, count]),
  );

/** The oldest or the newest stored row of the device, with its samples. */
async function storedRow(order: 'ASC' | 'DESC' = 'ASC') {
  const device = identifyDevice(DEVICE) as Identity;
  const times = (await readFile(ledgerPath, 'utf8'))
    .split('\n')
    .filter((line) => line.includes(DEVICE) && line.includes('"series":[{'))
    .flatMap((line) => JSON.parse(line).series[0].times);
  // The fleet may have run across a full hour.
  const bucket = new Date(bucketOf(order === 'ASC' ? Math.min(...times) : Math.max(...times)));
  const { rows } = await system.execute(
    'SELECT device_id, bucket, part, ts, digest, samples FROM message WHERE device_id = ? AND bucket = ? AND part = 0',
    [types.Uuid.fromString(device.id), bucket],
  );
  const sorted = rows.sort((a, b) => a['ts'] - b['ts']);
  const row = sorted.at(order === 'ASC' ? 0 : -1) as DriverTypes.Row;
  const pieces: Piece[] = [];
  visitBlock(bucket.getTime(), row['samples'], (sensor, series) => {
    const { times: ts, values } = series();
    pieces.push({ sensor, times: [...ts], values: [...values], from: 0, to: ts.length });
  });
  return {
    row,
    device,
    pieces,
    bucket: bucket.getTime(),
    count: pieces.reduce((sum, { to }) => sum + to, 0),
    first: Math.min(...pieces.map((piece) => Number(piece.times[0]))),
    key: ['device_id', 'bucket', 'part', 'ts', 'digest'].map((name) => row[name]),
  };
}

async function insert(row: DriverTypes.Row, changes: Record<string, unknown> = {}) {
  const cells = { ...Object.fromEntries(row.keys().map((name) => [name, row[name]])), ...changes };
  const names = Object.keys(cells);
  const marks = names.map(() => '?').join(', ');
  await system.execute(`INSERT INTO message (${names.join(', ')}) VALUES (${marks})`, Object.values(cells));
}

const remove = (key: unknown[]) =>
  system.execute(
    'DELETE FROM message WHERE device_id = ? AND bucket = ? AND part = ? AND ts = ? AND digest = ?',
    key,
  );

test('Ledger comparison: simulator wrote a ledger of its messages: ledger and database have the same samples', async () => {
  const result = await compare();
  expect(countDifferences(result)).toEqual({});
  expect(result).toMatchObject({ agree: true, devices: 3 });
  expect(result.acknowledged).toBeGreaterThan(3 * 2 * 50);
  expect(result.stored).toBe(result.acknowledged);
});

test('Ledger comparison: ledger does not fit in memory: the comparison in parts has the same result', async () => {
  const whole = await compare();
  expect(await compare({ partBytes: 100 })).toEqual(whole);
});

test('Ledger comparison: a database row is lost: each of its samples is reported as missing', async () => {
  const { row, key, count, first } = await storedRow();
  await remove(key);
  const result = await compare();
  expect(result.agree).toBe(false);
  expect(countDifferences(result)).toEqual({ missing: count });
  expect(result.found.missing.first[0]).toMatchObject({ device: DEVICE, ts: first });
  await insert(row);
  expect((await compare()).agree).toBe(true);
});

test('Ledger comparison: one bit of a stored value is changed: the sample is reported as differing', async () => {
  const { row, key } = await storedRow();
  const samples = Buffer.from(row['samples']);
  samples[samples.length - 8] = Number(samples[samples.length - 8]) ^ 1;
  await insert(row, { samples });
  expect(countDifferences(await compare())).toEqual({ differing: 1 });
  await insert(row);
  // The right value is also stored, in another row. A reader may get either value.
  await insert(row, { samples, digest: Buffer.alloc(8) });
  expect(countDifferences(await compare())).toEqual({ differing: 1 });
  await remove([...key.slice(0, 4), Buffer.alloc(8)]);
  expect((await compare()).agree).toBe(true);
});

test('Ledger comparison: database has samples that were never sent, of a known and an unknown sensor: both are reported as unknown', async () => {
  const { row, key, pieces, bucket, first } = await storedRow();
  const unknownSensor = types.Uuid.fromString('00000000-0000-4000-8000-000000000001');
  const [known] = pieces;
  const blockOf = (sensor: Buffer, ts: number) =>
    packBlock(bucket, [{ sensor, times: [ts], values: [7], from: 0, to: 1 }]);
  const [ownDigest, otherDigest] = [Buffer.alloc(8, 1), Buffer.alloc(8, 2)];
  await insert(row, { digest: ownDigest, samples: blockOf((known as Piece).sensor, first + 1) });
  await insert(row, { digest: otherDigest, samples: blockOf(unknownSensor.getBuffer(), first) });
  const result = await compare();
  // These rows bypassed ingest, so `latest` lacks the new sensor.
  expect(countDifferences(result)).toEqual({ unknown: 2, latest: 1 });
  expect(result.found.unknown.first.map(({ sensor }) => sensor)).toContain(unknownSensor.toString());
  await remove([...key.slice(0, 4), ownDigest]);
  await remove([...key.slice(0, 4), otherDigest]);
  expect((await compare()).agree).toBe(true);
});

test('Ledger comparison: two rows have the same samples, as after a redelivery: no difference is reported', async () => {
  const { row, key } = await storedRow();
  await insert(row, { digest: Buffer.alloc(8) });
  expect(countDifferences(await compare())).toEqual({});
  await remove([...key.slice(0, 4), Buffer.alloc(8)]);
});

test.each([
  ['older than the newest sample', -1, 'last'],
  ['newer than any stored sample', 3_600_000, 'last'],
  ['another value than the newest sample', 0, 'other'],
])('Ledger comparison: the stored latest value is %s: reported as a difference', async (_, offMs, which) => {
  const { row, device, pieces } = await storedRow('DESC');
  const group = groupOf(device.bytes, system.config.retention.latestGroups);
  const sensor = uuidText((pieces[0] as Piece).sensor);
  const where = 'WHERE grp = ? AND device_id = ?';
  const key = [group, row['device_id']];
  const stored = (await system.execute(`SELECT newest FROM latest ${where}`, key)).first();
  const [ts, value] = stored['newest'][sensor].values();
  const write = (stampMs: number, time: Date, other: number) =>
    system.execute(`UPDATE latest USING TIMESTAMP ? SET newest = newest + ? ${where}`, [
      types.Long.fromNumber(stampMs * 1000),
      { [sensor]: new types.Tuple(time, other) },
      ...key,
    ]);
  const now = Date.now();
  await write(now, new Date(ts.getTime() + offMs), which === 'last' ? value : 0.5);
  const result = await compare();
  expect(countDifferences(result)).toEqual({ latest: 1 });
  expect(result.found.latest.first[0]).toMatchObject({
    device: DEVICE,
    message: expect.stringContaining('latest has'),
  });
  await write(now + 1, ts, value);
  expect((await compare()).agree).toBe(true);
});

test('Ledger comparison: two values were sent for each timestamp: the value with the greater bytes is expected in the database', async () => {
  const path = join(directory, 'bits.ledger');
  const ledger = new Ledger({ path, onFailed: (error) => Promise.reject(error) });
  const ts = Date.now() - 60_000;
  const values = [-0, 0, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 0.1 + 0.2, 1e21, -1.5];
  const device = createDevice({
    description: { name: 'bits', sensors: [{ name: 'double', type: 'double' }] },
    broker: { url: system.mqttUrl },
    clientId: 'bits',
    limits: { messages: 10, bytes: 1e6, window: 1 },
    meter: createMeter(),
    ledger,
    onTrouble: () => {},
    onRefused: () => {},
  });
  const publish = (sent: number[]) => {
    const series = [{ name: 'double', samples: sent.map((value, i) => ({ ts: ts + i, value })) }];
    device.publish({ series, payload: encodeSenml(series) });
  };
  device.start();
  publish(values);
  publish(values.map((value) => -value));
  await device.whenPendingAtMost(0);
  await device.stop(Promise.resolve());
  ledger.close();
  const result = await compare({ ledgerPath: path });
  expect(countDifferences(result)).toEqual({});
  expect(result).toMatchObject({ acknowledged: values.length, stored: values.length });
});

test('Ledger comparison: simulator sends faults of every kind: exactly its valid samples are stored', async () => {
  const path = join(directory, 'faults.ledger');
  const faults = 'tsbs,duplicate=0.1,skew=0.3,poison=0.3';
  const flags = ['--profile', 'factory', '--devices', '8', '--connections', '2', '--interval', '100ms'];
  const simulator = startSimulator([
    ...['--broker', system.mqttUrl, '--seed', '9', ...flags, '--batch', '300ms', '--duration', '3s'],
    ...['--faults', faults, '--ledger', path],
  ]);
  started.push(simulator);
  const { code, summary } = await simulator.ended;
  expect(code).toBe(0);
  expect(summary).toMatchObject({ acknowledged: summary?.made, dropped: 0, left: 0 });
  const result = await compare({ ledgerPath: path });
  expect(countDifferences(result)).toEqual({});
  expect(result.acknowledged).toBeGreaterThan(1000);
  const { rows } = await system.execute('SELECT codes FROM dead_letter');
  const codes = new Set(rows.flatMap((row) => Object.keys(row['codes'])));
  expect(codes.size).toBeGreaterThan(5);
});

test('Ledger comparison: simulator is killed, and the next run continues its ledger: ledger and database have the same samples', async () => {
  const path = join(directory, 'killed.ledger');
  const flags = ['--broker', system.mqttUrl, '--devices', '20', '--interval', '10ms', '--batch', '20ms'];
  const ledger = ['--ledger', path];
  const lines = () => readFile(path, 'utf8').catch(() => '');
  const killed = startSimulator([...flags, ...ledger]);
  started.push(killed);
  await until(async () => (await lines()).split('acknowledged').length > 200);
  await killed.kill();
  const second = startSimulator([...flags, ...ledger, '--duration', '1s']);
  started.push(second);
  expect((await second.ended).code).toBe(0);
  expect((await lines()).split('{"ledger"')).toHaveLength(3);
  // The broker may still handle the last messages of the killed simulator.
  const result = await until(async () => {
    const current = await compare({ ledgerPath: path });
    return current.agree ? current : null;
  });
  expect(result.acknowledged).toBeGreaterThan(200);
});

test('Ledger comparison: a sample is lost outside the compared range: no difference is reported', async () => {
  const { row, key } = await storedRow();
  await remove(key);
  const { range } = await compare();
  expect((await compare({ range: { from: row['ts'].getTime() + 1, to: range.to } })).agree).toBe(true);
  await insert(row);
});

test('Ledger comparison: a sample is missing: the command reports it and exits with code 1', async () => {
  const run = async (path = ledgerPath) => {
    const flags = ['--ledger', path];
    const command = startCommand('simulator/verify/index.ts', system.databaseSettings, flags);
    started.push(command);
    return command.ended;
  };
  const right = await run();
  expect(right.output).toContain('They agree');
  expect(right.code).toBe(0);

  const { row, key, count, first } = await storedRow();
  await remove(key);
  const { code, output } = await run();
  expect(code).toBe(1);
  expect(output).toContain(`${count} missing: acknowledged, and not stored`);
  expect(output).toMatch(new RegExp(`${DEVICE}/[a-z]+ ${new Date(first).toISOString()}: .* is not stored`));
  await insert(row);

  const empty = join(directory, 'empty.ledger');
  await writeFile(empty, headerLine(Date.now()));
  expect(await run(empty)).toMatchObject({
    code: 1,
    output: expect.stringContaining('Nothing in this ledger is acknowledged.'),
  });
});

test('Ledger comparison: hours are packed, and their batches dropped: the ledger is compared with the packed history', async () => {
  const history = await openHistory(system);
  // The samples of other tests in these hours are packed as well.
  const hours = new Set<string>();
  for (const line of (await readFile(ledgerPath, 'utf8')).split('\n')) {
    if (!line.includes('"series":[{')) continue;
    const { device, series } = JSON.parse(line);
    const { id, bytes } = identifyDevice(device) as Identity;
    const key = { group: groupOf(bytes, system.config.retention.latestGroups), bytes };
    for (const sensor of await store.fleet.latestOfDevice(key)) {
      hours.add(JSON.stringify([id, sensor.id, bucketOf(series[0].times[0])]));
    }
  }
  const before = await compare();
  for (const hour of hours) {
    const [device, sensor, start] = JSON.parse(hour);
    await history.pack(history.sensorOf(device, sensor), start);
  }
  for (const hour of hours) {
    const [device, sensor, start] = JSON.parse(hour);
    await history.dropBatches(history.sensorOf(device, sensor), [start]);
  }
  expect(await compare()).toEqual(before);
  const [device, sensor, start] = JSON.parse(String([...hours][0]));
  await history.dropPacked(history.sensorOf(device, sensor), start);
  expect((await compare()).found.missing.count).toBeGreaterThan(before.found.missing.count);
});

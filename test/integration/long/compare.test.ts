import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { types as DriverTypes } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import type { Store } from '../../../api/store/index.ts';
import { type Identity, identifyDevice } from '../../../schema/ids.ts';
import { type Piece, visitBlock } from '../../../schema/packed/block.ts';
import { bucketOf } from '../../../schema/rules.ts';
import { headerLine } from '../../../simulator/ledger/format.ts';
import { compareLedger, openStore } from '../../../simulator/verify/compare.ts';
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

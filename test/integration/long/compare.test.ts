import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Store } from '../../../api/store/index.ts';
import { compareLedger, openStore } from '../../../simulator/verify/compare.ts';
import { startSimulator } from '../../support/processes/simulator-process.ts';
import { useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem();
let store: Store;
let directory: string;
const started: { kill: () => Promise<unknown> }[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-ledger-'));
  store = await openStore(system.config);
  system.beforeStop(() => store.close());
});
afterAll(async () => {
  await Promise.all(started.map((process) => process.kill()));
  await rm(directory, { recursive: true, force: true });
});

/** The number of differences of each kind. */
const countDifferences = ({ found }: Awaited<ReturnType<typeof compareLedger>>) =>
  Object.fromEntries(
    Object.entries(found)
      .filter(([, { count }]) => count > 0)
      .map(([kind, { count }]) => [kind, count]),
  );

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
  const result = await compareLedger({
    ledgerPath: path,
    store,
    groups: system.config.retention.latestGroups,
  });
  expect(countDifferences(result)).toEqual({});
  expect(result.acknowledged).toBeGreaterThan(1000);
  const { rows } = await system.execute('SELECT codes FROM dead_letter');
  const codes = new Set(rows.flatMap((row) => Object.keys(row['codes'])));
  expect(codes.size).toBeGreaterThan(5);
});

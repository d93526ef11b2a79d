import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { readSettings } from '../../../common/settings/index.ts';
import { compareLedger, openStore } from '../../../simulator/verify/compare.ts';
import { reportLines } from '../../../simulator/verify/report.ts';
import { useInstallation } from '../../support/processes/installation.ts';
import { startSimulator } from '../../support/processes/simulator-process.ts';
import { until } from '../../support/until.ts';

/** `JOURNAL_KILLS=40` for a long run. */
const KILLS = Number(process.env['JOURNAL_KILLS'] ?? 8);
const DEVICES = 300;

/** In ms after the kill of a process: 20 beats without a change, and the time to write its rows. */
const READABLE_MS = 60_000;

jest.setTimeout(240_000 + 15_000 * KILLS);

const installation = useInstallation({ ROLE: 'all', INGEST_JOURNAL: 'always' });
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-journal-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const start = (name: string) => installation.start({ MQTT_CLIENT_ID: name });

test('Journal: two processes are killed in turn under load: all acknowledged samples are stored once, and readable in time', async () => {
  const ledgerPath = join(directory, 'fleet.ledger');
  const config = readSettings({ ...installation.settings(), DATA_DIR: directory }, { envFile: '' });
  const store = await openStore(config);
  installation.afterwards(() => store.close());
  const runs = async () => (await store.journal.runs()).length;
  let [first, second] = await Promise.all([start('journal-1'), start('journal-2')]);
  const simulator = startSimulator([
    ...[
      '--broker',
      installation.broker().url,
      '--devices',
      String(DEVICES),
      '--sensors',
      '1',
      '--seed',
      '11',
    ],
    ...['--interval', '100ms', '--batch', '100ms', '--ledger', ledgerPath],
    ...['--duration', `${Math.max(30, 7 * KILLS)}s`],
  ]);
  installation.afterwards(() => simulator.kill());
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(4000);
    if (kill % 2 === 0) {
      await first.kill();
      first = await start('journal-1');
    } else {
      await second.kill();
      second = await start('journal-2');
    }
  }
  expect((await simulator.ended).code).toBe(0);
  // One process never comes back.
  await second.kill();
  const left = await runs();
  const began = Date.now();
  const compare = () => compareLedger({ ledgerPath, store, groups: config.retention.latestGroups });
  await until(async () => (await compare()).agree, { withinMs: READABLE_MS }).catch(() => {});
  const result = await compare();
  expect(reportLines(result)).toEqual(result.agree ? reportLines(result) : []);
  console.log(
    `${KILLS} kills, ${left} journals left, ${result.acknowledged} samples acknowledged: all readable ${Date.now() - began} ms after the last kill`,
  );
  expect(result.acknowledged).toBeGreaterThan(DEVICES * 100);
  // Only the process that still runs has a journal.
  await until(async () => (await runs()) <= 1, { withinMs: READABLE_MS });
});

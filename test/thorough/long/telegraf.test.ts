import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { createRandom } from '../../../simulator/random.ts';
import { createWorker, type Worker } from '../../cluster/kit/worker.ts';
import { startTestEngine, type TestEngine } from '../../support/database/engine.ts';
import { send } from '../../support/http/index.ts';
import { LedgerProxy } from '../../support/telegraf/ledger.ts';
import { type Program, prepareTelegraf } from '../../support/telegraf/programs.ts';
import { until } from '../../support/until.ts';

/** Duration of the injection of faults, in ms. `TELEGRAF_TEST_SECONDS=600` makes it ten minutes. */
const FAULTS_MS = Number(process.env['TELEGRAF_TEST_SECONDS'] ?? 30) * 1000;
const STARTS_MS = 600_000;
/** The pause between two faults, and the length of each outage, in ms. */
const PAUSE_MS = { from: 2000, to: 8000 };
const OUTAGE_MS = { from: 500, to: 4000 };

let engine: TestEngine;
let api: Worker;
let ledger: LedgerProxy;
let field: { telegraf: Program; machines: Program };
let apiUrl: string;

beforeAll(async () => {
  // A single node keeps an acknowledged write after a kill only if the write was on the disk.
  engine = await startTestEngine({ profile: 'fast', durable: true });
  const port = await steadyPort();
  apiUrl = `http://127.0.0.1:${port}`;
  const settings = {
    CQL_CONTACT_POINTS: engine.contactPoint,
    CURSOR_SECRET: 'one secret for all',
    HTTP_PORT: String(port),
    MQTT_PORT: '0',
    LATEST_GROUPS: '2',
    LOG_LEVEL: 'info',
  };
  await migrateDatabase(readSettings(settings, { envFile: '' }));
  api = createWorker('the API', settings);
  await api.start();
  ledger = new LedgerProxy(port);
  field = await prepareTelegraf(await ledger.start());
}, STARTS_MS);
afterAll(async () => {
  await field?.telegraf.kill();
  await field?.machines.kill();
  await ledger?.stop();
  await api?.kill();
  await engine?.dispose();
}, STARTS_MS);

/** @returns the stored values by time in epoch ms */
async function storedValues(path: string): Promise<Map<number, number>> {
  const [device, sensor] = path.split('/');
  const address = `/api/v1/devices/${device}/sensors/${sensor}/measurements?format=ndjson&order=asc`;
  const { status, text } = await send(apiUrl, address);
  expect([path, status]).toEqual([path, 200]);
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return new Map(rows.map(({ ts, value }) => [Date.parse(ts), value]));
}

test(
  'Telegraf with Modbus and OPC UA: Telegraf, API and database are killed: every value answered with 204 is stored',
  async () => {
    const random = createRandom(jest.getSeed() >>> 0, 'telegraf');
    const { telegraf } = field;
    const outage = () => sleep(random.between(OUTAGE_MS.from, OUTAGE_MS.to));
    const faults = [
      async function telegrafIsKilled() {
        await telegraf.kill();
        await outage();
        telegraf.start();
      },
      async function apiIsKilled() {
        await api.kill();
        await outage();
        await api.start();
      },
      async function databaseIsKilled() {
        await engine.kill();
        await outage();
        await engine.start();
      },
    ];
    const progress = (values: number) => {
      const before = ledger.acknowledged;
      return until(() => ledger.acknowledged >= before + values, {
        withinMs: 120_000,
        what: 'writes of Telegraf',
      });
    };
    telegraf.start();
    await progress(100);
    const until_ = Date.now() + FAULTS_MS;
    let kills = 0;
    // Each of the three is killed at least once.
    while (Date.now() < until_ || kills < faults.length) {
      for (const fault of random.shuffled(faults)) {
        await fault();
        kills++;
        await sleep(random.between(PAUSE_MS.from, PAUSE_MS.to));
        await progress(20);
      }
    }
    await progress(100);
    await telegraf.kill();

    expect(api.defects).toEqual([]);
    expect([...ledger.values.keys()].sort()).toEqual([
      'oven-1/opcua.pieces',
      'oven-1/opcua.running',
      'oven-1/opcua.temperature',
      'press-1/modbus.pressure',
      'press-1/modbus.running',
      'press-1/modbus.strokes',
      'press-1/modbus.temperature',
    ]);
    let checked = 0;
    for (const [path, times] of ledger.values) {
      const stored = await storedValues(path);
      for (const [ts, { sent, acknowledged }] of times) {
        const value = stored.get(ts);
        if (acknowledged !== null) checked++;
        // The greater of two values for one instant is kept. A value without a 204 may be stored too.
        const isRight =
          value === undefined ? acknowledged === null : sent.has(value) && value >= (acknowledged ?? value);
        if (!isRight) expect([path, ts, value]).toEqual([path, ts, acknowledged]);
      }
      expect([path, [...stored.keys()].filter((ts) => !times.has(ts))]).toEqual([path, []]);
    }
    expect(checked).toBeGreaterThan(200);
    console.info(
      `Telegraf: ${kills} kills, ${checked} values with a 204, all stored; answers by status ${JSON.stringify([...ledger.answers])}`,
    );
  },
  FAULTS_MS + STARTS_MS,
);

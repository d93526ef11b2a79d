import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { KAFKA_SETTINGS } from '../../../schema/kafka/index.ts';
import { bucketOf, HOUR_MS } from '../../../schema/rules.ts';
import { readLedger } from '../../../simulator/ledger/read.ts';
import { compareTopic, readTopics } from '../../../simulator/verify/topic.ts';
import { sharedContactPoint, uniqueName } from '../../support/database/engine.ts';
import { makeTopics, startTestKafka } from '../../support/kafka/index.ts';
import { type ApiProcess, startApi } from '../../support/processes/api-process.ts';
import { startSimulator } from '../../support/processes/simulator-process.ts';
import { until } from '../../support/until.ts';

const PREFIX = 'kills';
const INGEST_KILLS = Number(process.env['INGEST_KILLS'] ?? 6);
const KAFKA_KILLS = Number(process.env['KAFKA_KILLS'] ?? 2);
/** Length of the Kafka outage under load, before the kills. `KAFKA_AWAY_MS=600000` for a long run. */
const KAFKA_AWAY_MS = Number(process.env['KAFKA_AWAY_MS'] ?? 5000);
const DEVICES = process.env['STREAM_DEVICES'] ?? '8';
/** The load covers the time before, during and after the outage, and some 6 s for each kill. */
const LOAD_SECONDS = Math.ceil(KAFKA_AWAY_MS / 500) + Math.max(40, 6 * INGEST_KILLS);
const AHEAD_MS = 4 * HOUR_MS;

jest.setTimeout(400_000 + 4000 * LOAD_SECONDS);

const kafka = await startTestKafka();
let settings: Record<string, string>;
let directory: string;
let ledgerPath: string;
const running: Set<{ kill: () => Promise<unknown> }> = new Set();

async function start(more: Record<string, string> = {}, options?: Parameters<typeof startApi>[1]) {
  const api = await startApi({ ...settings, ...more }, { withinMs: 150_000, ...options });
  running.add(api);
  return api;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-kills-'));
  ledgerPath = join(directory, 'fleet.ledger');
  settings = {
    CQL_CONTACT_POINTS: sharedContactPoint(),
    CQL_KEYSPACE: uniqueName('k'),
    LATEST_GROUPS: '2',
    HTTP_PORT: '0',
    MQTT_PORT: String(await steadyPort()),
    CURSOR_SECRET: 'the same for every process',
    STREAM_KAFKA: kafka.address,
    STREAM_TOPIC_PREFIX: PREFIX,
    LOG_LEVEL: 'info',
  };
  await migrateDatabase(readSettings({ ...settings, DATA_DIR: directory }, { envFile: '' }));
  await makeTopics(kafka.address, PREFIX);
}, 120_000);

/** Processes of a failed test would occupy the ports of the next test. */
afterEach(async () => {
  await Promise.all([...running].map((each) => each.kill()));
  running.clear();
});

afterAll(async () => {
  await kafka.dispose();
  await rm(directory, { recursive: true, force: true });
});

test('Streaming to Kafka: ingest and Kafka are killed under load: no sample below the watermark is missing, and order is kept', async () => {
  let api = await start();
  const simulator = startSimulator([
    ...['--broker', api.mqttUrl, '--devices', DEVICES, '--sensors', '3', '--seed', '7', '--interval', '50ms'],
    ...['--batch', '250ms', '--duration', `${LOAD_SECONDS}s`, '--ledger', ledgerPath],
  ]);
  running.add(simulator);
  // A simulator whose first connection fails gives up.
  await until(async () => (await readFile(ledgerPath, 'utf8').catch(() => '')).includes('acknowledged'), {
    withinMs: 120_000,
    what: 'the first acknowledgement',
  });
  await measure(api, 'Kafka is there');
  await kafka.kill();
  await measure(api, 'Kafka is away');
  await kafka.start();
  for (let kill = 0; kill < INGEST_KILLS; kill++) {
    await sleep(2500);
    const killsKafka = kill % 3 === 1 && kill / 3 < KAFKA_KILLS;
    if (killsKafka) await kafka.kill();
    await sleep(500);
    await api.kill();
    api = await start();
    if (killsKafka) await kafka.start();
  }
  expect((await simulator.ended).code).toBe(0);
  await api.kill();
  // The hour closes for a process whose clock is ahead.
  const ahead = await start(
    { AHEAD_MS: String(AHEAD_MS) },
    { script: 'test/support/processes/api-ahead.ts' },
  );
  const config = readSettings({ ...settings, DATA_DIR: directory }, { envFile: '' });
  const watermark = bucketOf(Date.now()) + HOUR_MS;
  const { topic, until: complete } = await until(
    async () => {
      const read = await readTopics(config.of(KAFKA_SETTINGS), () => {});
      return read.until !== null && read.until >= watermark ? read : null;
    },
    { withinMs: 120_000, what: 'the watermark' },
  );
  await ahead.kill();
  const result = await compareTopic({ ledgerPath, topic, range: { to: Number(complete) } });
  expect(result.found.missing.first).toEqual([]);
  expect(result.found).toMatchObject({
    missing: { count: 0 },
    differing: { count: 0 },
    unknown: { count: 0 },
    disorder: { count: 0 },
  });
  expect(result.acknowledged).toBeGreaterThan(1000);
  console.log(`${result.acknowledged} samples acknowledged, ${result.stored} in the topic`);
});

/** Waits for acknowledgements, for KAFKA_AWAY_MS at least, and prints their number with the memory of the process. */
async function measure(api: ApiProcess, title: string) {
  const [acknowledgedBefore, memoryBefore] = [await countAcknowledged(), await residentMiB(api)];
  await sleep(KAFKA_AWAY_MS);
  await until(async () => (await countAcknowledged()) > acknowledgedBefore);
  const acknowledged = (await countAcknowledged()) - acknowledgedBefore;
  const memory = `${memoryBefore} MiB before, ${await residentMiB(api)} MiB after`;
  console.log(`${title}: ${acknowledged} messages acknowledged in ${KAFKA_AWAY_MS} ms; ${memory}`);
}

async function countAcknowledged() {
  let count = 0;
  for await (const entry of readLedger(ledgerPath)) if (entry.kind === 'acknowledged') count++;
  return count;
}

async function residentMiB(api: ApiProcess) {
  const text = await (await fetch(`${api.httpUrl}/metrics`)).text();
  const found = /^process_resident_memory_bytes (\S+)/m.exec(text);
  expect(found).not.toBeNull();
  return Math.round(Number(found?.[1]) / 2 ** 20);
}

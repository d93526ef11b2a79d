import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { identifyDevice, identifySensor } from '../../../schema/ids.ts';
import { KAFKA_SETTINGS } from '../../../schema/kafka/index.ts';
import { bucketOf, HOUR_MS } from '../../../schema/rules.ts';
import { readLedger } from '../../../simulator/ledger/read.ts';
import { compareTopic, readTopics } from '../../../simulator/verify/topic.ts';
import { sharedContactPoint, uniqueName } from '../../support/database/engine.ts';
import { makeTopics, startTestKafka } from '../../support/kafka/index.ts';
import { type ApiProcess, startApi } from '../../support/processes/api-process.ts';
import { startSimulator } from '../../support/processes/simulator-process.ts';
import { until } from '../../support/until.ts';

interface Changed {
  device_id: string;
  sensors?: { sensor_id: string; samples: [ts: number, value: number][] }[];
}

const PREFIX = 'kills';
const INGEST_KILLS = Number(process.env['INGEST_KILLS'] ?? 6);
const KAFKA_KILLS = Number(process.env['KAFKA_KILLS'] ?? 2);
/** Length of the Kafka outage under load, before the kills. `KAFKA_AWAY_MS=600000` for a long run. */
const KAFKA_AWAY_MS = Number(process.env['KAFKA_AWAY_MS'] ?? 5000);
const DEVICES = process.env['STREAM_DEVICES'] ?? '8';
/** The load covers the time before, during and after the outage, and some 6 s for each kill. */
const LOAD_SECONDS = Math.ceil(KAFKA_AWAY_MS / 500) + Math.max(40, 6 * INGEST_KILLS);
const READER_KILLS = 10;
/** The process is killed after so many lines. Answers are short, because the rest of an answer may still arrive: merged messages
 * leave some 400 lines in all. */
const LINES_PER_KILL = 10;
const LINES_PER_ANSWER = 30;
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

test('GET /changes: the HTTP process is killed repeatedly while a client reads: the client gets exactly the sent samples', async () => {
  /** values by device, sensor and instant */
  const read: Map<string, number[]> = new Map();
  let cursor = new Date(Date.now() - 2 * HOUR_MS).toISOString();
  const end = bucketOf(Date.now()) + HOUR_MS;
  let isComplete = false;
  let kills = 0;
  let linesOfServer = 0;
  const httpPort = String(await steadyPort());
  const more = { AHEAD_MS: String(AHEAD_MS), HTTP_PORT: httpPort };
  const script = 'test/support/processes/api-ahead.ts' as const;
  let api = await start(more, { script });
  let isKilled = false;
  while (!isComplete) {
    try {
      const response = await fetch(
        `${api.httpUrl}/api/v1/changes?since=${encodeURIComponent(cursor)}&limit=${LINES_PER_ANSWER}`,
      );
      expect(response.status).toBe(200);
      let rest = '';
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        const parts = (rest + Buffer.from(chunk).toString()).split('\n');
        rest = parts.pop() ?? '';
        for (const text of parts) {
          const line = JSON.parse(text);
          cursor = line.cursor;
          note(line, read);
          if (line.kind === 'watermark') isComplete = Date.parse(line.until) >= end;
          linesOfServer++;
          if (linesOfServer >= LINES_PER_KILL && kills < READER_KILLS && !isKilled) {
            kills++;
            isKilled = true;
            void api.kill();
          }
        }
      }
    } catch (error) {
      if (!isKilled) throw error;
    }
    if (isKilled) {
      await api.kill();
      isKilled = false;
      linesOfServer = 0;
      api = await start(more, { script });
    }
  }
  await api.kill();
  expect(kills).toBe(READER_KILLS);
  const sent: Set<string> = new Set();
  let missing = 0;
  const acknowledged = new Set();
  for await (const entry of readLedger(ledgerPath))
    if (entry.kind === 'acknowledged') acknowledged.add(entry.message);
  for await (const entry of readLedger(ledgerPath)) {
    if (entry.kind !== 'sent') continue;
    for (const { sensor, times, values } of entry.series) {
      times.forEach((ts, index) => {
        const key = keyOf(entry.device, sensor, ts);
        sent.add(key);
        const found = read.get(key);
        if (acknowledged.has(entry.message) && !found?.includes(Number(values[index]))) missing++;
      });
    }
  }
  expect(missing).toBe(0);
  expect([...read.keys()].filter((key) => !sent.has(key))).toEqual([]);
  // No instant comes twice, although the process was killed in the middle of answers.
  expect([...read.values()].filter((values) => new Set(values).size > 1)).toEqual([]);
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

function keyOf(device: string, sensor: string, ts: number) {
  const { id } = identifyDevice(device) as { id: string };
  return `${id}/${identifySensor(id, sensor)?.id}/${ts}`;
}

function note({ device_id: device, sensors = [] }: Changed, read: Map<string, number[]>) {
  for (const { sensor_id: sensor, samples } of sensors) {
    for (const [ts, value] of samples) {
      const key = `${device}/${sensor}/${ts}`;
      read.set(key, [...(read.get(key) ?? []), value]);
    }
  }
}

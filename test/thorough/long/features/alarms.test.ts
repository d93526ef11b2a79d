import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { RuleCondition } from '../../../../api/features/alarms/rules/rule.ts';
import { migrateDatabase } from '../../../../api/store/setup/index.ts';
import { steadyPort } from '../../../../infra/engine/ports.ts';
import { startTestEngine, type TestEngine, uniqueName } from '../../../support/database/engine.ts';
import { configOf } from '../../../support/database/migrations.ts';
import { trueEpisodes } from '../../../support/history/true-episodes.ts';
import { type Receiver, startReceiver } from '../../../support/http/webhook-receiver.ts';
import { type ApiProcess, startApi } from '../../../support/processes/api-process.ts';
import { until } from '../../../support/until.ts';

/** Number of kills in a test, of the two processes and of the database in turn. `ALARM_KILLS=100` for a long run. */
const KILLS = Number(process.env['ALARM_KILLS'] ?? 3);

jest.setTimeout(1_800_000 + KILLS * 60_000);

/** Maximum number of messages between two kills. */
const MESSAGES_A_KILL = 50;

const DEVICES = 3;
const STEP_MS = 60_000;
const HOUR_MS = 3_600_000;

const RULES: Record<string, RuleCondition> = {
  high: { kind: 'above', limit: 6, clear: 4 },
  low: { kind: 'below', limit: -5, clear: -3, for_ms: 120_000 },
};

/** Limit for a start of the database or of a process, in ms. */
const STARTS_MS = 120_000;

/** Length of an outage of the database, in ms. */
const OUTAGE_MS = 2000;

let engine: TestEngine;
let receiver: Receiver;
let processes: ApiProcess[] = [];
let settings: Record<string, string> = {};
let kills = 0;

beforeAll(async () => {
  // A single node keeps an acknowledged write after a kill only if the write was on the disk.
  engine = await startTestEngine({ profile: 'fast', durable: true });
}, STARTS_MS);
afterAll(() => engine?.dispose(), STARTS_MS);

beforeEach(async () => {
  kills = 0;
  receiver = await startReceiver();
  settings = {
    CQL_CONTACT_POINTS: engine.contactPoint,
    CQL_KEYSPACE: uniqueName('t'),
    LATEST_GROUPS: '4',
    HTTP_PORT: '0',
    LOG_LEVEL: 'info',
    ALARM_WEBHOOK_URL: receiver.url,
    MQTT_PORT: String(await steadyPort()),
  };
  await migrateDatabase(configOf(settings));
  processes = [await start(0), await start(1)];
}, 3 * STARTS_MS);
afterEach(async () => {
  await Promise.all(processes.map((api) => api.kill()));
  await receiver?.stop();
}, STARTS_MS);

/** Starts a process. Only the first one has a fixed port. */
const start = (n: number) =>
  startApi(
    { ...settings, MQTT_CLIENT_ID: `alarms-${n}`, ...(n > 0 && { MQTT_PORT: '0' }) },
    { withinMs: STARTS_MS },
  );

/** Kills the next process or the database, and starts it again. */
async function killNext() {
  const victim = kills++ % 3;
  if (victim === 2) {
    await engine.kill();
    await sleep(OUTAGE_MS);
    await engine.start();
  } else {
    await processes[victim]?.kill();
    processes[victim] = await start(victim);
  }
}

async function ask(path: string, init?: RequestInit): Promise<Response> {
  return until(
    async () => {
      const { httpUrl } = processes[Math.random() < 0.5 ? 0 : 1] as ApiProcess;
      const response = await fetch(`${httpUrl}/api/v1${path}`, init).catch(() => null);
      return response?.ok ? response : null;
    },
    { withinMs: STARTS_MS, what: `an answer to ${path}` },
  );
}

const post = (path: string, body: unknown) =>
  ask(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

interface Alarm {
  alarm_id: string;
  device: string;
  sensor: string;
  rule: string;
  state: string;
  started_at: string;
  opened_at: string;
  cleared_at: string | null;
  peak: number;
}

async function allAlarms(): Promise<Alarm[]> {
  const items = [];
  let cursor = '';
  do {
    const page = await (await ask(`/alarms?limit=1000&from=-2d${cursor}`)).json();
    items.push(...page.items);
    cursor = page.next ? `&cursor=${encodeURIComponent(page.next)}` : '';
  } while (cursor);
  return items;
}

async function expectAlarms(expected: string[], keyOf: (item: Alarm) => unknown[]) {
  const found = async () =>
    (await allAlarms())
      .filter(({ state }) => state !== 'withdrawn')
      .map((item) => JSON.stringify(keyOf(item)))
      .sort();
  expected.sort();
  expect(expected.length).toBeGreaterThan(10);
  await until(async () => JSON.stringify(await found()) === JSON.stringify(expected), {
    withinMs: 180_000,
    what: 'the true episodes',
  }).catch(async () => expect(await found()).toEqual(expected));
}

/** Checks that each alarm was delivered with its newest state, and that nothing else was delivered. */
async function expectDeliveries() {
  const left = async () => (await (await ask('/alarm-deliveries')).json()).items;
  // A delivery whose change was never written goes after two minutes.
  await until(async () => (await left()).length === 0, { withinMs: 240_000, what: 'the deliveries' }).catch(
    async () => expect(await left()).toEqual([]),
  );
  const alarms = await allAlarms();
  const ids = new Set(alarms.map(({ alarm_id }) => alarm_id));
  const last = new Map(receiver.received.map(({ alarm }) => [alarm.alarm_id, alarm]));
  expect([...last.keys()].filter((id) => !ids.has(id))).toEqual([]);
  for (const alarm of alarms) {
    const isReported = receiver.received.some(
      ({ event, alarm: { alarm_id } }) => alarm_id === alarm.alarm_id && event !== 'acknowledged',
    );
    // An alarm may be withdrawn before it is reported.
    if (alarm.state !== 'withdrawn') expect(isReported).toBe(true);
    if (isReported) expect(last.get(alarm.alarm_id)?.state).toBe(alarm.state);
  }
}

/** A known sequence of numbers, so that a failure can be repeated. */
function createRandom(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A value that walks slowly, so that episodes have a length. */
function walk(random: () => number, from: number, to: number): Array<[ts: number, value: number]> {
  const samples: Array<[number, number]> = [];
  let value = 0;
  for (let ts = from; ts < to; ts += STEP_MS) {
    value = Math.max(-9, Math.min(9, value + Math.round(random() * 4 - 2)));
    samples.push([ts, value]);
  }
  return samples;
}

test(`Alarms: ${KILLS} kills of two processes and the database, samples out of order: exactly the expected alarms are delivered`, async () => {
  const random = createRandom(1);
  const now = Date.now();
  const from = now - 6 * HOUR_MS;
  const truth: Map<string, Array<[number, number]>> = new Map();
  for (let n = 0; n < DEVICES; n++) {
    const device = `machine-${n}`;
    truth.set(device, walk(random, from, now - 60_000));
    for (const [name, condition] of Object.entries(RULES))
      await post('/alarm-rules', {
        name,
        scope: { device },
        condition,
        severity: 'warning',
        since: from - 1,
      });
  }
  const all = [...truth].flatMap(([device, samples]) => samples.map((sample) => ({ device, sample })));
  // Every message holds a few samples of any hours, and a tenth of them is sent again.
  const shuffled = all
    .concat(all.filter(() => random() < 0.1))
    .map((entry) => ({ entry, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ entry }) => entry);
  const messages = [];
  while (shuffled.length > 0) {
    const { device } = shuffled[0] as (typeof all)[0];
    const taken = shuffled.filter((entry) => entry.device === device).slice(0, 1 + Math.floor(random() * 6));
    for (const entry of taken) shuffled.splice(shuffled.indexOf(entry), 1);
    messages.push({ device, samples: taken.map(({ sample }) => sample) });
  }
  // With many kills there are fewer messages between two of them.
  const messagesAKill = Math.max(1, Math.min(MESSAGES_A_KILL, Math.floor(messages.length / (KILLS + 1))));
  for (const [index, { device, samples }] of messages.entries()) {
    const body = samples.map(([ts, value]) => ({ sensor_id: 'x', ts, value }));
    await post(`/measurements?device=${device}`, body);
    if (kills < KILLS && index % messagesAKill === messagesAKill - 1) await killNext();
  }
  expect(kills).toBe(KILLS);

  const expected: string[] = [];
  for (const [device, samples] of truth) {
    for (const [rule, condition] of Object.entries(RULES)) {
      const episodes = trueEpisodes(condition, samples, { since: from, now });
      for (const { start: at, opened, cleared, peak } of episodes)
        expected.push(JSON.stringify([device, rule, at, opened, cleared, peak]));
    }
  }
  await expectAlarms(expected, (item) => [
    item.device,
    item.rule,
    Date.parse(item.started_at),
    Date.parse(item.opened_at),
    item.cleared_at && Date.parse(item.cleared_at),
    item.peak,
  ]);
  await expectDeliveries();
});

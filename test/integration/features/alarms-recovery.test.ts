import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const NEVER_MS = DAY_MS;

/** A process that commits samples, and loads no alarm rules after its start. */
let committing: TestSystem;
let evaluating: TestSystem;
beforeAll(async () => {
  committing = await startTestSystem({ periods: { alarmRules: NEVER_MS, alarmRecovery: NEVER_MS } });
  evaluating = await startTestSystem({
    settings: { CQL_KEYSPACE: committing.config.cql.keyspace, MQTT_CLIENT_ID: 'evaluating' },
    periods: { alarmRecovery: 200 },
  });
});
afterAll(async () => {
  await evaluating?.halt();
  await committing?.stop();
});

async function post(system: TestSystem, path: string, body: object) {
  expect((await system.post(path, body)).ok).toBe(true);
}

const addRule = (system: TestSystem, name: string, condition: object, since: number) =>
  post(system, '/alarm-rules', {
    name,
    severity: 'info',
    since,
    scope: { device: 'pump', sensor: 'heat' },
    condition,
  });

const measure = (ts: number, value: number) =>
  post(committing, '/measurements?device=pump', { sensor_id: 'heat', ts, value });

test('Alarm evaluation: a process dies after it committed samples and before it evaluated them: another process opens their alarms, also for late samples', async () => {
  const begun = Date.now();
  const since = begun - 3 * DAY_MS;
  await measure(begun - 2 * DAY_MS, 6);
  await measure(begun - 2 * DAY_MS + MINUTE_MS, 1);
  await measure(begun - 2 * MINUTE_MS, 1);
  await addRule(committing, 'too cold', { kind: 'below', limit: -1000 }, since);
  await addRule(evaluating, 'too warm', { kind: 'above', limit: 5 }, since);
  // The new rule has been evaluated for the samples before it.
  await until(async () => (await evaluating.get('/alarms')).items.length === 1);
  await measure(begun - DAY_MS, 7);
  await measure(begun - DAY_MS + MINUTE_MS, 1);
  await measure(begun - MINUTE_MS, 9);
  // This progress row stands for the dead process. The other process continues from it.
  expect((await evaluating.get('/alarms')).items).toHaveLength(1);
  const progress = [randomUUID(), new Date(begun - 2 * MINUTE_MS)];
  await committing.execute(
    "INSERT INTO alarm_progress (part, process, run, evaluated_until) VALUES ('millrace', 'dead', ?, ?)",
    progress,
    { prepare: true },
  );
  const items = await until(async () => {
    const found = (await evaluating.get('/alarms')).items;
    return found.length > 2 ? found : null;
  });
  expect(items).toMatchObject([
    { rule: 'too warm', state: 'open', peak: 9, started_at: new Date(begun - MINUTE_MS).toISOString() },
    { rule: 'too warm', state: 'cleared', peak: 7, started_at: new Date(begun - DAY_MS).toISOString() },
    { peak: 6 },
  ]);
  await until(async () => {
    const { rows } = await committing.execute("SELECT process FROM alarm_progress WHERE part = 'millrace'");
    return rows.every((row) => row['process'] !== 'dead');
  });
});

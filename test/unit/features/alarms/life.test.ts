import { afterEach, expect, test } from '@jest/globals';
import { Evaluator, type MonitoredSensor } from '../../../../api/features/alarms/evaluation/evaluator.ts';
import type { Definition, RuleVersion } from '../../../../api/features/alarms/rules/rule.ts';
import { createSubjects } from '../../../../api/features/alarms/subjects.ts';
import { createReading } from '../../../../api/history/reading/index.ts';
import { groupOf, uuidBytes } from '../../../../schema/ids.ts';
import { type MemoryAlarms, startMemoryAlarms } from '../../../support/features/alarms/memory-alarms.ts';
import { startReceiver } from '../../../support/http/webhook-receiver.ts';
import { until } from '../../../support/until.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 10, 21, 12, 20);

/** Milliseconds that the tests add to the clock. */
let shifted = 0;
let calls = 0;
const clock = () => NOW + shifted + calls++;

let system: MemoryAlarms;
afterEach(async () => {
  shifted = 0;
  await system.stop();
});

const ABOVE = { kind: 'above', limit: 10, clear: 5 } as const;
const scope = { device: 'oven' };

const heat = (value: number, ts: number = clock()) =>
  system.measure('oven', [{ sensor_id: 'heat', ts, value }]);
const events = () => system.messages.map(({ event }) => event);

test('Alarm: a device clock may be a day ahead: only hours up to the newest sample are read, and a sample five hours ahead clears', async () => {
  system = await startMemoryAlarms({ clock, settings: { MAX_CLOCK_SKEW: '1d' } });
  const { samples } = system.store;
  const { readHour } = samples;
  const hours: Set<number> = new Set();
  samples.readHour = (device, sensor, hour, since) => {
    hours.add((hour - Math.floor(NOW / HOUR_MS) * HOUR_MS) / HOUR_MS);
    return readHour(device, sensor, hour, since);
  };
  await system.addRule({ scope, condition: ABOVE }, NOW - HOUR_MS);
  await heat(20);
  await system.evaluated();
  expect(events()).toEqual(['opened']);
  expect([...hours].sort()).toEqual([-1, 0]);
  const ahead = clock() + 5 * HOUR_MS;
  await heat(1, ahead);
  await until(() => events().includes('cleared'));
  expect(await system.episodes('oven', 'heat')).toMatchObject([{ cleared: ahead }]);
  expect(Math.max(...hours)).toBe(5);
});

test('Alarm: a sample exceeds the limit but is older than the alarm rule: no alarm opens', async () => {
  system = await startMemoryAlarms({ clock });
  await system.addRule({ scope, condition: ABOVE }, NOW - HOUR_MS);
  await heat(20, NOW - 2 * HOUR_MS);
  await system.evaluated();
  expect(await system.episodes('oven', 'heat')).toEqual([]);
});

test('Alarm: two triggers end the alarm of a retired device at the same time: one message reports the end', async () => {
  system = await startMemoryAlarms({ clock });
  await system.addRule({ scope, condition: ABOVE }, NOW - HOUR_MS);
  await heat(20);
  await system.evaluated();
  const { device } = system.keyOf('oven', 'heat');
  await system.store.retirement.retire({ group: groupOf(device, 4), bytes: device }, clock());
  await Promise.all([system.alarms.endOfDevice(device), system.alarms.endOfDevice(device)]);
  expect(events()).toEqual(['opened', 'cleared']);
});

test('Alarm rule: replaced while an alarm is open: the alarm ends; late samples are judged by the rule version of their time', async () => {
  system = await startMemoryAlarms({ clock });
  const since = NOW - 3 * HOUR_MS;
  const rule = await system.addRule({ scope, condition: ABOVE }, since);
  const first = NOW - 2 * HOUR_MS;
  await heat(20, first);
  await system.evaluated();
  const changedAt = NOW - HOUR_MS;
  const next = {
    name: 'rule',
    scope,
    severity: 'info' as const,
    condition: { ...ABOVE, limit: 50 },
  };
  await system.alarms.rules.replace(rule.id, next, changedAt);
  await until(async () => (await system.episodes('oven', 'heat'))[0]?.cleared === changedAt);
  await heat(0, first + MINUTE_MS);
  await heat(30, first + 2 * MINUTE_MS);
  await heat(30, changedAt + MINUTE_MS);
  await system.evaluated();
  const found = await system.episodes('oven', 'heat');
  expect(found.map(({ start, cleared }) => [start, cleared])).toEqual([
    [first, first + MINUTE_MS],
    [first + 2 * MINUTE_MS, changedAt],
  ]);
});

test('Alarm: late samples show that the limit was not exceeded for long enough: the alarm is withdrawn, event corrected is sent', async () => {
  system = await startMemoryAlarms({ clock });
  const condition = { kind: 'above', limit: 10, for_ms: 10 * MINUTE_MS } as const;
  await system.addRule({ scope, condition }, NOW - 3 * HOUR_MS);
  const from = NOW - 2 * HOUR_MS;
  await heat(20, from);
  await heat(20, from + 12 * MINUTE_MS);
  await system.evaluated();
  expect(events()).toEqual(['opened']);
  await heat(0, from + 6 * MINUTE_MS);
  await system.evaluated();
  expect(events()).toEqual(['opened', 'corrected']);
  expect(system.messages.at(-1)?.alarm).toMatchObject({ state: 'withdrawn', seen_late: true });
  expect(await system.episodes('oven', 'heat')).toEqual([]);
});

test('Alarm acknowledgement: the write of the alarm history fails: the request fails, and a second request is recorded', async () => {
  system = await startMemoryAlarms({ clock });
  const rule = await system.addRule({ scope, condition: ABOVE }, NOW - HOUR_MS);
  const start = clock();
  await heat(20, start);
  await until(() => events().includes('opened'));
  const key = { ...system.keyOf('oven', 'heat'), rule: rule.bytes, start };
  const acknowledge = () => system.alarms.acknowledge(key, { by: 'Ada', comment: 'I look' });
  const { episodes } = system.tables;
  const note = episodes.note.bind(episodes);
  episodes.note = async () => {
    throw new Error('the database is away');
  };
  await expect(acknowledge()).rejects.toThrow('the database is away');
  expect(events()).toEqual(['opened']);
  episodes.note = note;
  await acknowledge();
  expect(events()).toEqual(['opened', 'acknowledged']);
  expect(await episodes.history(key)).toMatchObject([
    { kind: 'opened', actor: null },
    { kind: 'acknowledged', actor: 'Ada', comment: 'I look' },
  ]);
});

test('Alarm shelving: the alarm clears while the webhook has not answered the opening: the end is sent after the shelving', async () => {
  const receiver = await startReceiver();
  try {
    receiver.become('holds');
    system = await startMemoryAlarms({ clock, settings: { ALARM_WEBHOOK_URL: receiver.url } });
    await system.addRule({ scope, condition: ABOVE }, NOW - HOUR_MS);
    const start = clock();
    await heat(20, start);
    await until(() => receiver.received.length === 1);
    const key = {
      ...system.keyOf('oven', 'heat'),
      rule: uuidBytes(String(receiver.received[0]?.alarm.rule_id)),
      start,
    };
    await system.alarms.shelve(key, { by: 'Ada', until: NOW + DAY_MS, comment: null });
    await heat(0);
    await until(() => events().includes('cleared'));
    receiver.become('takes');
    const end = NOW + DAY_MS;
    // Two deliveries: one for each report.
    await until(
      async () => (await system.tables.deliveries.begunIn({ from: end, to: end + 1 })).length === 2,
    );
    expect(receiver.received.map(({ event }) => event)).toEqual(['opened']);
    shifted = DAY_MS;
    await until(() => {
      shifted += SECOND_MS;
      return receiver.received.some(({ event }) => event === 'cleared');
    });
    expect(receiver.received.map(({ event }) => event)).not.toContain('corrected');
    expect(receiver.received.at(-1)?.alarm).toMatchObject({ state: 'cleared' });
  } finally {
    await receiver.stop();
  }
});

test('Alarm shelving: the process dies right after ending the shelving: the waiting event cleared is still sent to the webhook', async () => {
  const receiver = await startReceiver();
  try {
    system = await startMemoryAlarms({ clock, settings: { ALARM_WEBHOOK_URL: receiver.url } });
    const rule = await system.addRule({ scope, condition: ABOVE }, NOW - HOUR_MS);
    const start = clock();
    await heat(20, start);
    await until(() => receiver.received.length === 1);
    const { deliveries, episodes } = system.tables;
    await until(async () => (await deliveries.begunIn({ from: start, to: clock() })).length === 0);
    const key = { ...system.keyOf('oven', 'heat'), rule: rule.bytes, start };
    const shelve = (ms: number) => system.alarms.shelve(key, { by: 'Ada', until: ms, comment: null });
    await shelve(NOW + DAY_MS);
    await heat(0);
    await until(() => events().includes('cleared'));
    const write = episodes.shelve.bind(episodes);
    episodes.shelve = async (...given) => {
      await write(...given);
      throw new Error('the process dies');
    };
    await expect(shelve(NOW)).rejects.toThrow('the process dies');
    await until(() => {
      shifted += SECOND_MS;
      return receiver.received.some(({ event }) => event === 'cleared');
    });
  } finally {
    await receiver.stop();
  }
});

test('Absence alarm: two processes watch the devices: only one alarm opens, and the next sample ends it', async () => {
  system = await startMemoryAlarms({ clock, periods: { recheck: 20, reread: 20 } });
  const second = await system.start('second');
  try {
    await system.addRule({ scope, condition: absent(5) }, NOW - HOUR_MS);
    const last = clock();
    await heat(1, last);
    await untilLeased();
    shifted += 6 * MINUTE_MS;
    await until(async () => (await system.episodes('oven', 'heat')).length === 1);
    expect(await system.episodes('oven', 'heat')).toMatchObject([
      { start: last, opened: last + 5 * MINUTE_MS, cleared: null, late: false },
    ]);
    const back = clock();
    await heat(1, back);
    await until(async () => (await system.episodes('oven', 'heat'))[0]?.cleared === back);
    expect(await system.episodes('oven', 'heat')).toHaveLength(1);
  } finally {
    await second.stop();
  }
});

/** Waits until each group of devices has a lease, or none has. @param leases leases per group */
const untilLeased = (leases: 0 | 1 = 1) =>
  until(async () => {
    const query = 'SELECT owner FROM alarm_lease WHERE grp = ?';
    const results = await Promise.all([0, 1, 2, 3].map((group) => system.client.execute(query, [group])));
    return results.every(({ rows }) => rows.length === leases);
  });

test('Alarm: the evaluating process restarts while another process holds the lease: the next value below clear ends the alarm', async () => {
  system = await startMemoryAlarms({ clock, periods: { reread: 20, recheck: 20 } });
  await system.addRule({ scope, condition: ABOVE }, NOW - HOUR_MS);
  await untilLeased();
  const second = await system.start('second');
  await heat(20);
  await until(() => events().includes('opened'));
  await second.stop();
  const third = await system.start('third');
  try {
    await heat(1);
    // The lease holder may have checked just before. The next check comes within 4 s by this clock.
    shifted += 8 * SECOND_MS;
    await until(() => events().includes('cleared'));
  } finally {
    await third.stop();
  }
});

test('Alarm takeover: an alarm has expired, but its row in the table of open alarms has not: the takeover removes the row', async () => {
  const settings = { HISTORY_DAYS: '4', BATCH_DAYS: '4' };
  system = await startMemoryAlarms({ clock, settings, periods: { reread: 20 } });
  const rule = await system.addRule({ scope, condition: ABOVE }, NOW - 10 * DAY_MS);
  await heat(1);
  const { device, sensor } = system.keyOf('oven', 'heat');
  const group = groupOf(device, 4);
  await system.client.execute(
    'INSERT INTO alarm_open (grp, device_id, sensor_id, rule_id, start) VALUES (?, ?, ?, ?, ?)',
    [group, device, sensor, rule.bytes, NOW - 5 * DAY_MS],
  );
  await until(async () => (await system.tables.episodes.open(group)).length === 0);
  expect(events()).toEqual([]);
});

test('Alarm rule with for_ms: the process stops before for_ms has passed: its successor opens the alarm', async () => {
  system = await startMemoryAlarms({ clock });
  await system.addRule({ scope, condition: { ...ABOVE, for_ms: 10 * MINUTE_MS } }, NOW - HOUR_MS);
  const start = clock();
  await heat(12, start);
  await heat(11);
  await system.evaluated();
  const { progress } = system.tables;
  await until(async () => (await progress.all()).length === 1);
  const [before] = await progress.all();
  await system.alarms.stop();
  const successor = await system.start('first');
  try {
    await until(async () => {
      const runs = await progress.all();
      return runs.length === 1 && runs[0]?.run !== before?.run;
    });
    shifted += 10 * MINUTE_MS;
    await heat(11);
    await until(async () => (await system.episodes('oven', 'heat')).length === 1);
    expect(await system.episodes('oven', 'heat')).toMatchObject([{ start, cleared: null, peak: 12 }]);
  } finally {
    await successor.stop();
  }
});

/** Changes a rule while an alarm is open. The device clock is ahead, so the alarm starts after the change. */
async function changeRuleBeforeAlarm(next: Definition | null) {
  system = await startMemoryAlarms({ clock });
  const rule = await system.addRule({ scope, condition: ABOVE }, NOW - HOUR_MS);
  const start = clock() + 30 * SECOND_MS;
  await heat(20, start);
  await until(() => events().includes('opened'));
  await system.alarms.rules.replace(rule.id, next, clock());
  await until(() => events().includes('cleared'));
  await system.evaluated();
  expect(await system.episodes('oven', 'heat')).toMatchObject([{ start, opened: start, cleared: start }]);
  expect(events()).toEqual(['opened', 'cleared']);
}

test('Alarm rule is removed: an open alarm starts in the future, because the device clock is ahead: the alarm ends', async () => {
  await changeRuleBeforeAlarm(null);
});

test('Alarm rule gets a higher limit: an open alarm starts in the future, because the device clock is ahead: the alarm ends', async () => {
  const condition = { ...ABOVE, limit: 50 };
  await changeRuleBeforeAlarm({ name: 'rule', scope, severity: 'info', condition });
});

test('Alarm: open for longer than HISTORY_DAYS: the alarm row is rewritten before it expires, and the start stays the same', async () => {
  const settings = { HISTORY_DAYS: '4', BATCH_DAYS: '4' };
  system = await startMemoryAlarms({ clock, settings });
  const rule = await system.addRule({ scope, condition: ABOVE }, NOW - 10 * DAY_MS);
  const start = clock();
  await heat(20, start);
  const { device, sensor } = system.keyOf('oven', 'heat');
  await system.evaluated();
  const key = { device, sensor, rule: rule.bytes, start };
  await system.alarms.acknowledge(key, { by: 'Ada', comment: null });
  const shelvedUntil = NOW + 30 * DAY_MS;
  await system.alarms.shelve(key, { by: 'Ada', until: shelvedUntil, comment: null });
  for (let hour = 1; hour <= 100; hour++) {
    shifted = hour * HOUR_MS;
    await heat(20);
    // After the fourth day each sample would open a new alarm if the first one had expired.
    if (hour % 24 === 0 || hour > 96) await system.alarms.endOfDevice(device);
    await system.evaluated();
  }
  expect(await system.episodes('oven', 'heat')).toMatchObject([{ start, cleared: null, peak: 20 }]);
  const [alarm] = await system.tables.episodes.ofSensor(device, sensor);
  expect(alarm?.writtenAt).toBeGreaterThan(start + 2 * DAY_MS);
  expect(alarm).toMatchObject({ acknowledgedBy: 'Ada', shelvedUntil });
  const { rows } = await system.client.execute(
    'SELECT WRITETIME(acknowledged_at) AS acknowledged, WRITETIME(shelved_until) AS shelved FROM alarm WHERE device_id = ? AND sensor_id = ?',
    [device, sensor],
  );
  for (const column of ['acknowledged', 'shelved'])
    expect(Number(rows[0]?.[column]) / 1000).toBeGreaterThan(start + 2 * DAY_MS);
  const end = clock();
  await heat(1, end);
  await until(() => events().includes('cleared'));
  expect(await system.episodes('oven', 'heat')).toMatchObject([{ start, cleared: end, peak: 20 }]);
  expect(events()).toEqual(['opened', 'acknowledged', 'shelved', 'cleared']);
});

const absent = (minutes: number): { kind: 'absent'; for_ms: number } => ({
  kind: 'absent',
  for_ms: minutes * MINUTE_MS,
});

test('Absence alarm: open for longer than HISTORY_DAYS: the alarm does not expire, and the next sample ends it', async () => {
  const settings = { HISTORY_DAYS: '4', BATCH_DAYS: '4' };
  system = await startMemoryAlarms({ clock, settings, periods: { reread: 20 } });
  await system.addRule({ scope, condition: absent(5) }, NOW - 10 * DAY_MS);
  const start = clock();
  await heat(1, start);
  await untilLeased();
  shifted += 6 * MINUTE_MS;
  await until(() => events().includes('opened'));
  shifted = 5 * DAY_MS;
  await system.alarms.endOfDevice(system.keyOf('oven', 'heat').device);
  await system.evaluated();
  const end = clock();
  await heat(1, end);
  await until(() => events().includes('cleared'));
  expect(await system.episodes('oven', 'heat')).toMatchObject([{ start, cleared: end }]);
  expect(events()).toEqual(['opened', 'cleared']);
});

/** @param now epoch ms @param state of the sensor */
const evaluatorAt = (now: number, state: { newest: number | null; goneAt: number | null }) =>
  new Evaluator({
    reading: createReading(system.store),
    episodes: system.tables.episodes,
    clock: { now: () => now },
    historyMs: 365 * DAY_MS,
    maxClockSkewMs: DAY_MS,
    stateOf: async () => state,
    announce: async () => {},
  });

/** @returns the sensor that `heat` measures */
async function findSubject(): Promise<MonitoredSensor> {
  const found = await createSubjects(system.store, 4).find(system.keyOf('oven', 'heat'));
  return found as MonitoredSensor;
}

test('Absence alarm: the clock is set back after a silence was detected: the evaluation still opens the alarm', async () => {
  system = await startMemoryAlarms({ clock });
  // No other process evaluates the rule.
  system.world.watches = false;
  const rule = await system.addRule({ scope, condition: absent(5) }, NOW - HOUR_MS);
  const last = NOW - 20 * MINUTE_MS;
  const silentAt = last + 5 * MINUTE_MS;
  await heat(1, last);
  const evaluator = evaluatorAt(silentAt - SECOND_MS, { newest: null, goneAt: null });
  const range = { from: last, to: last, silentAt };
  const { changes } = await evaluator.evaluate(await findSubject(), rule, range);
  expect(changes.map(({ kinds }) => kinds)).toEqual([['opened']]);
  expect(await system.episodes('oven', 'heat')).toMatchObject([{ start: last, opened: silentAt }]);
});

test('Alarm: the device was retired, and then the rule was removed: each evaluation ends the alarm at the retirement', async () => {
  system = await startMemoryAlarms({ clock });
  const rule = await system.addRule({ scope, condition: ABOVE }, NOW - HOUR_MS);
  const start = clock();
  await heat(20, start);
  await system.evaluated();
  const [version] = rule.versions;
  const goneAt = clock();
  const ended = {
    ...rule,
    versions: [{ ...(version as RuleVersion), until: goneAt + SECOND_MS }],
  };
  const evaluator = evaluatorAt(goneAt + MINUTE_MS, { newest: null, goneAt });
  const range = { from: start, to: start, silentAt: Number.NEGATIVE_INFINITY };
  const { changes } = await evaluator.evaluate(await findSubject(), ended, range);
  expect(changes.map(({ kinds }) => kinds)).toEqual([['cleared']]);
  expect(await system.episodes('oven', 'heat')).toMatchObject([{ start, cleared: goneAt }]);
  expect((await evaluator.evaluate(await findSubject(), ended, range)).changes).toEqual([]);
});

test('Alarm: it opened ahead of the clock, and its device was retired: later evaluations do not withdraw it', async () => {
  system = await startMemoryAlarms({ clock, settings: { MAX_CLOCK_SKEW: '1d' } });
  const condition = { ...ABOVE, for_ms: 3 * HOUR_MS };
  const rule = await system.addRule({ scope, condition }, NOW - HOUR_MS);
  const start = clock();
  for (const hours of [0, 1, 2, 3]) await heat(20, start + hours * HOUR_MS);
  await until(() => events().includes('opened'));
  await system.evaluated();
  const now = clock();
  const evaluator = evaluatorAt(now, { newest: null, goneAt: now });
  const range = { from: start, to: now, silentAt: Number.NEGATIVE_INFINITY };
  const subject = await findSubject();
  const kinds = (await evaluator.evaluate(subject, rule, range)).changes.map((change) => change.kinds);
  expect(kinds).toEqual([['cleared']]);
  expect((await evaluator.evaluate(subject, rule, range)).changes).toEqual([]);
  expect(await system.episodes('oven', 'heat')).toMatchObject([{ start, cleared: start + 3 * HOUR_MS }]);
});

/**
 * Simulates an outage: no process receives anything for two hours.
 * @returns epoch ms of the last sample before the outage
 */
async function outage(): Promise<number> {
  system = await startMemoryAlarms({ clock, periods: { reread: 20, recheck: 20 } });
  await system.addRule({ scope, condition: absent(5) }, NOW - DAY_MS);
  const last = clock();
  await heat(1, last);
  await untilLeased();
  system.world.watches = false;
  await untilLeased(0);
  shifted += 2 * HOUR_MS;
  system.world.watches = true;
  await untilLeased();
  return last;
}

test('Absence alarm: Millrace is down for longer than for_ms, then the device sends its queued samples: no alarm opens', async () => {
  const last = await outage();
  await system.looked();
  // The device sends its queue in order. This takes longer than `for_ms`.
  for (let count = 1; last + count * MINUTE_MS < NOW + shifted; count++) {
    await heat(1, last + count * MINUTE_MS);
    if (count % 20 > 0) continue;
    await system.evaluated();
    await system.looked();
    shifted += 2 * MINUTE_MS;
  }
  for (let count = 0; count < 4; count++) {
    await heat(1);
    await system.looked();
    shifted += 2 * MINUTE_MS;
  }
  await system.evaluated();
  expect(events()).toEqual([]);
});

test('Absence alarm: the rule gets a longer for_ms: the open alarm ends, and a new one opens after the new for_ms', async () => {
  system = await startMemoryAlarms({ clock, periods: { reread: 20 } });
  const rule = await system.addRule({ scope, condition: absent(5) }, NOW - HOUR_MS);
  const last = clock();
  await heat(1, last);
  await untilLeased();
  shifted += 6 * MINUTE_MS;
  await until(async () => (await system.episodes('oven', 'heat')).length === 1);
  const changedAt = clock();
  const next = { name: 'rule', scope, severity: 'info', condition: absent(10) } as const;
  await system.alarms.rules.replace(rule.id, next, changedAt);
  await until(async () => (await system.episodes('oven', 'heat'))[0]?.cleared === changedAt);
  shifted += 5 * MINUTE_MS;
  await until(async () => (await system.episodes('oven', 'heat')).length === 2);
  await system.evaluated();
  for (let n = 0; n < 3; n++) {
    await system.alarms.endOfDevice(system.keyOf('oven', 'heat').device);
    await system.evaluated();
  }
  expect(await system.episodes('oven', 'heat')).toMatchObject([
    { start: last, opened: last + 5 * MINUTE_MS, cleared: changedAt },
    { start: changedAt, opened: last + 10 * MINUTE_MS, cleared: null },
  ]);
  expect(events()).toEqual(['opened', 'cleared', 'opened']);
});

import { expect, test } from '@jest/globals';
import pino from 'pino';
import { AbsenceWatch } from '../../../../api/features/alarms/absence.ts';
import { EvaluationScheduler } from '../../../../api/features/alarms/evaluation/evaluation-scheduler.ts';
import type { Evaluator } from '../../../../api/features/alarms/evaluation/evaluator.ts';
import { Recovery } from '../../../../api/features/alarms/recovery.ts';
import type { Rule } from '../../../../api/features/alarms/rules/rule.ts';
import { uuidBytes } from '../../../../schema/ids.ts';
import { until } from '../../../support/until.ts';

const logger = pino({ level: 'silent' });
const NOW = Date.UTC(2026, 10, 21, 12, 20);
const HOUR_MS = 3_600_000;
const RULE_ID = '00000000-0000-4000-8000-000000000001';
const DEVICE_ID = '00000000-0000-4000-8000-000000000002';
const SENSOR_ID = '00000000-0000-4000-8000-000000000003';

const RULE: Rule = {
  id: RULE_ID,
  bytes: uuidBytes(RULE_ID),
  versions: [
    {
      version: 1,
      since: 0,
      until: Number.POSITIVE_INFINITY,
      definition: {
        name: 'rule',
        scope: { type: 'heat' },
        condition: { kind: 'above', limit: 10 },
        severity: 'info',
      },
      removed: false,
      ids: { device: null, sensor: null },
    },
  ],
};

/** Creates an absence watch without absence rules. @param deps some of its dependencies */
const watchOf = (deps: object) =>
  new AbsenceWatch({
    leases: {
      unsentFrom: async () => 0,
      take: async () => true,
      renew: async () => true,
      release: async () => {},
    },
    rules: { isEmpty: false, list: () => [], onChange: () => {} },
    watches: () => true,
    unwatchedTime: { read: async () => ({ since: null, spans: [] }) },
    clock: () => NOW,
    logger,
    owner: 'test',
    groups: 1,
    everyMs: 5,
    ...deps,
  } as never);

test('Absence watch: the takeover of open alarms from another process fails: the next round repeats it', async () => {
  let takeovers = 0;
  const watch = watchOf({
    takeOverOpenEpisodes: async () => {
      takeovers++;
      if (takeovers === 1) throw new Error('the database is away');
    },
  });
  await watch.start();
  await until(() => takeovers === 2 && watch.held === 1);
  await watch.stop();
});

/** Rule of absence for an hour. */
const SILENCE: object = {
  ...RULE,
  versions: RULE.versions.map((version) => ({
    ...version,
    definition: { ...version.definition, condition: { kind: 'absent', for_ms: HOUR_MS } },
  })),
};

/**
 * Creates an absence watch with one sensor, whose last sample is two hours old.
 * @param deps some of its dependencies
 */
function watchSilence(deps: object) {
  const last = NOW - 2 * HOUR_MS;
  const row = {
    ...{ id: SENSOR_ID, name: 'heat', type: 'heat', site: null, intervalMs: null },
    ...{ deviceId: DEVICE_ID, deviceName: 'oven', ts: last },
  };
  const ranges: object[] = [];
  const world = { row, last, ranges, now: NOW };
  const watch = watchOf({
    store: {
      fleet: {
        async *latestOfGroup() {
          yield [{ ...row }];
        },
      },
      devices: { sensors: async () => [row] },
    },
    rules: { isEmpty: false, list: () => [SILENCE], onChange: () => {} },
    scheduler: { evaluate: (...[, , range]: [unknown, unknown, object]) => ranges.push(range) > 0 },
    takeOverOpenEpisodes: async () => {},
    peek: () => undefined,
    clock: () => world.now,
    ...deps,
  });
  return { watch, world };
}

test('Absence watch: the device sends again before a started process has a lease: the silence before the start is evaluated', async () => {
  let isConnected = false;
  const { watch, world } = watchSilence({ receives: true, watches: () => isConnected });
  await watch.start();
  world.row.ts = NOW;
  isConnected = true;
  await until(() => watch.held === 1);
  // The device had the time to send what it queued.
  world.now += 10 * 60_000;
  await until(() => world.ranges.length > 0);
  await watch.stop();
  expect(world.ranges).toEqual([{ from: world.last, to: NOW }]);
});

/** @param number number of a sensor */
const subject = (number: number) =>
  ({ sensor: { id: String(number), bytes: Buffer.from(String(number)) } }) as Parameters<
    Evaluator['evaluate']
  >[0];

const schedulerOf = (evaluate: Evaluator['evaluate']) =>
  new EvaluationScheduler({
    evaluator: { evaluate },
    rules: { find: () => undefined },
    clock: () => NOW,
    logger,
    onChange: () => {},
    onEvaluated: () => {},
  });

/** Creates a scheduler whose queue of 50,000 evaluations has overflowed. */
async function overflowing() {
  const scheduler = schedulerOf(async () => ({ changes: [], episodes: 0, run: null }));
  for (let number = 0; number < 50_100; number++)
    scheduler.evaluate(subject(number), RULE, { from: NOW, to: NOW });
  await until(() => scheduler.waiting === 0);
  return scheduler;
}

/** @param rest other dependencies */
const recoveryOf = (scheduler: EvaluationScheduler, store: object, rest: object = {}) =>
  new Recovery({
    store: { due: async () => [], all: async () => [], ...store },
    rules: { isEmpty: false },
    scheduler,
    clock: () => NOW,
    logger,
    process: 'test',
    groups: 1,
    everyMs: 5,
    ...rest,
  } as never);

test('Alarm recovery: a device has more sensors than the evaluation queue holds: each sensor is evaluated', async () => {
  const sensors = 60_000;
  let evaluations = 0;
  const scheduler = schedulerOf(async () => {
    evaluations++;
    return { changes: [], episodes: 0, run: null };
  });
  const found = Array.from({ length: sensors }, (_, number) => subject(number));
  const recovery = recoveryOf(
    scheduler,
    { seenSince: async () => [Buffer.alloc(16)] },
    { subjects: { ofDevice: async () => found }, rules: { isEmpty: false, rulesOf: () => [RULE] } },
  );
  await recovery.evaluateSince(NOW - HOUR_MS);
  await until(() => scheduler.waiting === 0);
  expect(scheduler.isOverflowed).toBe(false);
  expect(evaluations).toBe(sensors);
  await scheduler.stop(0);
});

test('Alarm recovery: evaluations were dropped by a full queue, and the read of their devices fails: the next round repeats the read', async () => {
  const scheduler = await overflowing();
  let looks = 0;
  let hasWritten = false;
  const recovery = recoveryOf(scheduler, {
    seenSince: async () => {
      looks++;
      if (looks === 1) throw new Error('the database is away');
      return [];
    },
    write: async () => {
      hasWritten = true;
    },
    remove: async () => {},
  });
  recovery.start();
  await until(() => hasWritten);
  await recovery.stop();
  await scheduler.stop(0);
  expect(looks).toBe(2);
});

test('Alarm recovery: the process stops after its full queue dropped evaluations: its progress row stays for a successor', async () => {
  const scheduler = await overflowing();
  let isRemoved = false;
  const recovery = recoveryOf(scheduler, {
    remove: async () => {
      isRemoved = true;
    },
  });
  await scheduler.stop(0);
  await recovery.stop();
  expect(isRemoved).toBe(false);
});

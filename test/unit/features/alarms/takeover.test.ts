import { expect, test } from '@jest/globals';
import pino from 'pino';
import { AbsenceWatch } from '../../../../api/features/alarms/absence.ts';
import { EvaluationScheduler } from '../../../../api/features/alarms/evaluation/evaluation-scheduler.ts';
import type { Evaluator } from '../../../../api/features/alarms/evaluation/evaluator.ts';
import { Recovery } from '../../../../api/features/alarms/recovery.ts';
import type { Rule } from '../../../../api/features/alarms/rules/rule.ts';
import { MillraceError } from '../../../../common/errors.ts';
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

/** Dependencies of a process that receives messages, without unwatched time in the past. */
const WATCHING = { watches: () => true, unwatchedTime: { read: async () => ({ since: null, spans: [] }) } };

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
    ...WATCHING,
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

test('Absence watch: the lease of one of two device groups cannot be taken: the other group is still checked', async () => {
  let takeovers = 0;
  const watch = watchOf({
    leases: {
      unsentFrom: async () => 0,
      take: async (group: number) => {
        if (group === 1) throw new Error('a replica is away');
        return true;
      },
      renew: async () => true,
      release: async () => {},
    },
    takeOverOpenEpisodes: async () => void takeovers++,
    groups: 2,
  });
  await watch.start();
  await until(() => takeovers > 0);
  expect(watch.held).toBe(1);
  await watch.stop();
});

test('Absence watch: the process can no longer receive messages: its leases are released', async () => {
  let watches = true;
  const calls: string[] = [];
  const watch = watchOf({
    watches: () => watches,
    leases: {
      unsentFrom: async () => 0,
      take: async () => calls.push('take') > 0,
      renew: async () => true,
      release: async () => void calls.push('release'),
    },
    takeOverOpenEpisodes: async () => {},
  });
  await watch.start();
  await until(() => watch.held === 1);
  watches = false;
  await until(() => calls.includes('release'));
  expect(watch.held).toBe(0);
  await watch.stop();
  expect(calls).toEqual(['take', 'release']);
});

test('Absence watch: repeated reads of the watched time fail: one warning with the error code, another one after a success', async () => {
  let isRejected = true;
  let reads = 0;
  let looks = 0;
  const warnings: object[] = [];
  const watch = watchOf({
    // It loses its broker again and again, so it takes its lease again.
    watches: () => ++looks % 3 > 0,
    unwatchedTime: {
      read: async () => {
        reads++;
        if (isRejected) throw new MillraceError('rejected', 'no SELECT permission');
        return { since: null, spans: [] };
      },
    },
    takeOverOpenEpisodes: async () => {},
    logger: { debug: () => {}, warn: (fields: object) => warnings.push(fields) },
  });
  await watch.start();
  await until(() => reads > 3);
  expect(warnings).toEqual([{ code: 'rejected', reason: expect.stringContaining('no SELECT permission') }]);
  isRejected = false;
  const before = reads;
  await until(() => reads > before);
  isRejected = true;
  await until(() => warnings.length > 1);
  await watch.stop();
  expect(warnings).toHaveLength(2);
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
  const world = { row, last, ranges, now: NOW, reads: 0 };
  const watch = watchOf({
    store: {
      fleet: {
        async *latestOfGroup() {
          world.reads++;
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

test('Absence watch: the database answers no read at the start: the start ends without the samples', async () => {
  const { watch } = watchSilence({
    receives: true,
    readWithinMs: 10,
    watches: () => false,
    store: {
      fleet: {
        async *latestOfGroup() {
          await new Promise(() => {});
          yield [];
        },
      },
    },
  });
  await watch.start();
  await watch.stop();
  expect(watch.held).toBe(0);
});

test('Absence watch: a lease expires while the process stands still, and the device goes on: the silence before is evaluated', async () => {
  let isLost = false;
  let losses = 0;
  const { watch, world } = watchSilence({
    renewMs: 5,
    leases: {
      unsentFrom: async () => 0,
      take: async () => true,
      renew: async () => {
        if (!isLost) return true;
        isLost = false;
        losses++;
        return false;
      },
      release: async () => {},
    },
  });
  await watch.start();
  await until(() => world.reads === 1);
  world.row.ts = NOW;
  isLost = true;
  await until(() => losses === 1 && watch.held === 1);
  world.now += 10 * 60_000;
  await until(() => world.ranges.length > 0);
  await watch.stop();
  expect(world.ranges).toEqual([{ from: world.last, to: NOW }]);
});

test('Absence watch: after an outage a process takes a group of another one, and the device goes on before: the silence is evaluated', async () => {
  let watches = true;
  let isFree = false;
  let requests = 0;
  const { watch, world } = watchSilence({
    watches: () => watches,
    leases: {
      unsentFrom: async () => 0,
      take: async () => {
        requests++;
        return isFree;
      },
      renew: async () => true,
      release: async () => {},
    },
  });
  await watch.start();
  await until(() => requests > 0);
  watches = false;
  await until(() => world.reads === 1);
  world.row.ts = NOW;
  isFree = true;
  watches = true;
  await until(() => watch.held === 1);
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

/** @param newest the rule as this process knows it */
const schedulerOf = (
  evaluate: Evaluator['evaluate'],
  newest?: Rule,
  onEvaluated: (ok: boolean, waitedMs: number) => void = () => {},
) =>
  new EvaluationScheduler({
    evaluator: { evaluate },
    rules: { find: () => newest },
    clock: () => NOW,
    logger,
    onChange: () => {},
    onEvaluated,
  });

test('Scheduler of alarm evaluations: a caller passes an outdated rule: the newest version of the rule is evaluated', async () => {
  const changed = { ...RULE, versions: [...RULE.versions, ...RULE.versions] };
  const versions: number[] = [];
  const scheduler = schedulerOf(async (_subject, rule) => {
    versions.push(rule.versions.length);
    return { changes: [], episodes: 0, run: null };
  }, changed);
  scheduler.evaluate(subject(1), RULE, { from: NOW, to: NOW });
  await until(() => versions.length > 0);
  await scheduler.stop(0);
  expect(versions).toEqual([2]);
});

test.each(['above', 'rate'] as const)(
  'Scheduler of alarm evaluations: rule kind %s, one evaluation succeeds, one fails: one success and one failure are counted',
  async (kind) => {
    const [version] = RULE.versions;
    const definition = { ...version?.definition, condition: { kind, limit: 10 } };
    const rule = { ...RULE, versions: [{ ...version, definition }] } as Rule;
    const counted: boolean[] = [];
    const evaluate = async ({ sensor }: { sensor: { id: string } }) => {
      if (sensor.id === '2') throw new Error('the database is away');
      return { changes: [], episodes: 0, run: null };
    };
    const scheduler = schedulerOf(evaluate, rule, (ok) => counted.push(ok));
    for (const number of [1, 2]) scheduler.evaluate(subject(number), rule, { from: NOW, to: NOW });
    await until(() => counted.length === 2);
    await scheduler.stop(0);
    expect(counted).toEqual([true, false]);
  },
);

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

test('Alarm recovery: 50,000 evaluations are queued: waitForRoom() resolves only after the queue is short', async () => {
  let waiting = 50_000;
  let looks = 0;
  const scheduler = {
    get waiting() {
      looks++;
      return waiting;
    },
  };
  const recovery = recoveryOf(scheduler as never, {});
  let hasRoom = false;
  const room = recovery.waitForRoom().then(() => {
    hasRoom = true;
  });
  await until(() => looks > 3);
  expect(hasRoom).toBe(false);
  waiting = 0;
  await room;
});

import { beforeEach, expect, test } from '@jest/globals';
import pino from 'pino';
import { Deliveries } from '../../../../api/features/alarms/delivery/deliveries.ts';
import type { Alarm, EpisodeKey } from '../../../../api/features/alarms/store/episodes.ts';
import { until } from '../../../support/until.ts';

interface Delivery {
  id: string;
  begunAt: number;
  attempts: number;
  failedAt: number | null;
  error: string | null;
}

const ID = Buffer.alloc(16);
const ALARM = {
  device: ID,
  sensor: ID,
  rule: ID,
  start: 0,
  opened: 0,
  cleared: null,
  shelvedUntil: null,
} as unknown as Alarm;

const rows: Map<string, Delivery> = new Map();
let now = 1_000_000;
beforeEach(() => {
  rows.clear();
  now = 1_000_000;
});

/**
 * Creates deliveries to one webhook. Their rows are in memory.
 * @param find the stored alarm
 * @param rest other dependencies
 */
const startDeliveries = (
  webhook: (alarm: Alarm, event: string, sentBefore?: Alarm) => Promise<void>,
  find: (key: EpisodeKey) => Promise<Alarm>,
  onResult: (target: string, result: string) => void = (_target: string, _result: string) => {},
  rest: object = {},
) =>
  new Deliveries({
    receivers: { webhook },
    store: {
      write: async (delivery: Delivery) => void rows.set(delivery.id, delivery),
      finish: async ({ id }: { id: string }) => void rows.delete(id),
      removeFinished: async () => {},
      begunIn: async ({ from, to }: { from: number; to: number }) =>
        [...rows.values()].filter(({ begunAt }) => begunAt >= from && begunAt < to),
    },
    episodes: { find },
    leases: { renew: async () => true, take: async () => true, release: async () => {} },
    open: async () => [],
    clock: () => now,
    logger: pino({ level: 'silent' }),
    owner: 'test',
    everyMs: 5,
    onResult,
    onDelivered: () => {},
    ...rest,
  } as never);

/** Reports the opening of the alarm. Afterwards the process knows that no earlier change is pending. */
async function reportOpening(deliveries: Deliveries) {
  await deliveries.begin(ALARM, ['opened']);
  deliveries.send(ALARM);
  await until(() => rows.size === 0);
}

test('Alarm deliveries: the write of an alarm reports an error but was applied: the next round sends the delivery', async () => {
  const sent: string[] = [];
  const deliveries = startDeliveries(
    async (_, event) => void sent.push(event),
    async () => ALARM,
  );
  await deliveries.begin(ALARM, ['opened']);
  deliveries.start();
  now += 60_000;
  await until(() => sent.length > 0);
  await until(() => deliveries.pending === 0);
  await deliveries.stop();
  expect(sent).toEqual(['opened']);
  expect(rows.size).toBe(0);
});

test('Alarm deliveries: another process reports the withdrawal of an alarm while this one reports its end: the withdrawal is sent last', async () => {
  const cleared = { ...ALARM, cleared: 60_000 };
  const withdrawn = { ...cleared, withdrawn: true };
  let stored = ALARM;
  const received: unknown[] = [];
  const deliveries = startDeliveries(
    async (alarm, event, sentBefore) => {
      if (event === 'cleared') {
        // The report of the other process arrives before the report of this process.
        stored = withdrawn;
        received.push(['corrected', 'withdrawn', undefined]);
      }
      received.push([event, alarm.withdrawn ? 'withdrawn' : 'cleared', sentBefore?.cleared]);
    },
    async () => stored,
  );
  await reportOpening(deliveries);
  received.length = 0;
  stored = cleared;
  await deliveries.begin(cleared, ['cleared']);
  deliveries.send(cleared);
  await until(() => rows.size === 0);
  await deliveries.stop();
  expect(received).toEqual([
    ['corrected', 'withdrawn', undefined],
    ['cleared', 'cleared', undefined],
    ['corrected', 'withdrawn', 60_000],
  ]);
});

test('Alarm deliveries: an outdated state was sent, and the read of the newest state fails: a later round sends it', async () => {
  const cleared = { ...ALARM, cleared: 60_000 };
  let stored = ALARM;
  let isAway = false;
  const received: Array<boolean | undefined> = [];
  const deliveries = startDeliveries(
    async ({ withdrawn }) => void received.push(withdrawn),
    async () => {
      if (isAway) throw new Error('the database is away');
      return stored;
    },
  );
  await reportOpening(deliveries);
  received.length = 0;
  stored = { ...cleared, withdrawn: true };
  isAway = true;
  await deliveries.begin(cleared, ['cleared']);
  deliveries.send(cleared);
  await until(() => [...rows.values()].some(({ error }) => error === 'the database is away'));
  isAway = false;
  now += 60_000;
  deliveries.start();
  await until(() => rows.size === 0);
  await deliveries.stop();
  expect(received).toEqual([undefined, true]);
});

const HOUR_MS = 3_600_000;

/** @param start epoch ms @returns key of a separate alarm */
const keyOf = (start: number): EpisodeKey => ({ device: ID, sensor: ID, rule: ID, start });

const rowOf = (id: string, rest: object) => ({
  id,
  key: ALARM,
  target: 'webhook',
  event: 'opened',
  begunAt: now,
  attempts: 0,
  nextAt: now,
  failedAt: null,
  error: null,
  ...rest,
});

test('Alarm deliveries: 40 deliveries are due and the webhook hangs: stop() waits only for the 16 requests in flight', async () => {
  let release = () => {};
  const released: Promise<void> = new Promise((resolve) => {
    release = resolve;
  });
  let sent = 0;
  const deliveries = startDeliveries(
    async () => {
      sent++;
      await released;
    },
    async () => ALARM,
  );
  for (let n = 0; n < 40; n++) rows.set(String(n), rowOf(String(n), { key: keyOf(n) }));
  deliveries.start();
  await until(() => sent === 16);
  let isStopped = false;
  const stopped = deliveries.stop().then(() => {
    isStopped = true;
  });
  release();
  await until(() => isStopped);
  await stopped;
  expect(rows.size).toBe(40 - sent);
});

test.each([
  ['acknowledged', { acknowledgedAt: null }],
  ['cleared', { cleared: null }],
])(
  'Alarm deliveries: the process died before it stored that an alarm was %s: this event is never sent',
  async (event, state) => {
    const sent: string[] = [];
    let looks = 0;
    const deliveries = startDeliveries(
      async (_, kind) => void sent.push(kind),
      async () => {
        looks++;
        return { ...ALARM, ...state };
      },
    );
    rows.set('due', rowOf('due', { event }));
    deliveries.start();
    await until(() => looks > 1);
    expect(sent).toEqual([]);
    expect(rows.size).toBe(1);
    expect(rows.get('due')?.attempts).toBe(0);
    now += 120_001;
    await until(() => rows.size === 0);
    await deliveries.stop();
    expect(sent).toEqual([]);
  },
);

test('Alarm deliveries: the shelving of an alarm ends while its end is being stored: the end is sent at once', async () => {
  const shelved = { ...ALARM, cleared: 60_000, shelvedUntil: now + 1_000_000 };
  const stored = { ...shelved, shelvedUntil: now - 1 };
  const sent: string[] = [];
  const deliveries = startDeliveries(
    async (_, event) => void sent.push(event),
    async () => stored,
  );
  await deliveries.begin(shelved, ['cleared']);
  deliveries.start();
  await until(() => sent.length > 0);
  await deliveries.stop();
  expect(sent).toEqual(['cleared']);
  expect(rows.size).toBe(0);
});

test('Alarm deliveries: no process ran for two days: a due delivery is attempted once more, then given up', async () => {
  let isAway = true;
  const sent: string[] = [];
  const deliveries = startDeliveries(
    async (_, kind) => {
      if (isAway) throw new Error('the receiver is away');
      sent.push(kind);
    },
    async () => ALARM,
  );
  now = 100 * HOUR_MS;
  rows.set('a', rowOf('a', { begunAt: now - 48 * HOUR_MS, nextAt: now - 47 * HOUR_MS }));
  deliveries.start();
  await until(() => rows.get('a')?.failedAt !== null);
  await deliveries.stop();

  isAway = false;
  rows.set('b', rowOf('b', { begunAt: now - 48 * HOUR_MS, nextAt: now - 47 * HOUR_MS }));
  const next = startDeliveries(
    async (_, kind) => void sent.push(kind),
    async () => ALARM,
  );
  next.start();
  await until(() => !rows.has('b'));
  await next.stop();
  expect(sent).toEqual(['opened']);
});

test('Alarm deliveries: the opening of an alarm waits for its next attempt: the end of the same alarm is sent after it', async () => {
  const sent: string[] = [];
  const deliveries = startDeliveries(
    async ({ start }, event) => void sent.push(`${start} ${event}`),
    async ({ start }) => ({ ...ALARM, start, cleared: 60_000 }),
  );
  rows.set('a', rowOf('a', { event: 'cleared' }));
  rows.set('b', rowOf('b', { begunAt: now - 1, attempts: 8, nextAt: now + 60_000 }));
  rows.set('c', rowOf('c', { key: keyOf(1) }));
  deliveries.start();
  await until(() => sent.includes('1 opened'));
  expect(sent).toEqual(['1 opened']);
  now += 120_000;
  await until(() => rows.size === 0);
  await deliveries.stop();
  expect(sent).toEqual(['1 opened', '0 opened', '0 cleared']);
});

test('Alarm deliveries: the webhook hangs: Alertmanager still gets its delivery and the open alarms, and the lease is renewed', async () => {
  let release = () => {};
  const released: Promise<void> = new Promise((resolve) => {
    release = resolve;
  });
  const count = { webhook: 0, alertmanager: 0, repeat: 0, renewals: 0 };
  const deliveries = startDeliveries(
    async () => {},
    async ({ start }) => ({ ...ALARM, start }),
    undefined,
    {
      receivers: {
        webhook: () => {
          count.webhook++;
          return released;
        },
        alertmanager: async () => void count.alertmanager++,
        repeat: async () => void count.repeat++,
      },
      leases: {
        renew: async () => {
          count.renewals++;
          return true;
        },
        release: async () => {},
      },
      open: async () => [ALARM],
    },
  );
  // One row more than a process keeps in memory for one receiver.
  for (let n = 0; n <= 10_000; n++) rows.set(String(n), rowOf(String(n), { key: keyOf(n) }));
  rows.set('alertmanager', rowOf('alertmanager', { target: 'alertmanager' }));
  deliveries.start();
  await until(() => count.webhook === 16 && count.alertmanager === 1 && count.repeat === 1);
  const { renewals } = count;
  await until(() => count.renewals > renewals);
  expect(count).toMatchObject({ webhook: 16, alertmanager: 1, repeat: 1 });
  release();
  await deliveries.stop();
});

import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import type { Outcome } from '../../../api/ingest/pipeline.ts';
import { MillraceError } from '../../../common/errors.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { HeldWrites, type Hold } from '../../support/database/held-writes.ts';
import { track } from '../../support/database/track.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../support/system/memory-pipeline.ts';
import { until } from '../../support/until.ts';

const { OperationTimedOutError } = cassandra.errors;

/** The byte budget of unsettled messages, 64 MiB. A message of this size exceeds the budget with its overhead. */
const BUDGET_BYTES = 64 * 1024 * 1024;

const NOW = Date.now();
const SAMPLE = { sensor_id: 's', ts: NOW, value: 1 };

type Options = NonNullable<Parameters<typeof startMemoryPipeline>[0]>;
type Around = NonNullable<Options['around']>;

const afterwards = useCleanUps();

async function start(options?: Options) {
  /** replaceable at run time */
  const database: { around: Around | null } = { around: null };
  const pipeline = await startMemoryPipeline({
    around: (request, run) => (database.around ? database.around(request, run) : run()),
    ...options,
  });
  afterwards(() => pipeline.stop());
  const messages = (result: string) => pipeline.metric(`iot_ingest_messages_total{result="${result}"}`);
  return { ...pipeline, database, messages };
}

/** Makes the first requests that write samples fail. @param isApplied true: the database stores the rows */
function failing(count: number, error: () => Error, isApplied: boolean): Around {
  let left = count;
  return async ({ table }, run) => {
    if (table !== 'message' || left === 0) return run();
    left--;
    if (isApplied) await run();
    throw error();
  };
}

/** Checks that a message is not acknowledged before a write is committed. */
async function settleBehind(
  pipeline: MemoryPipeline,
  writes: HeldWrites,
  hold: Hold,
  accept: () => Promise<Outcome>,
) {
  const held = writes.hold(hold);
  let outcome: Promise<Outcome> = Promise.resolve('unknown_topic');
  const message = track(() => {
    outcome = accept();
    return outcome;
  });
  await held.reached();
  await writes.quiet();
  await pipeline.measure('another', [SAMPLE]);
  expect(message.isAcknowledged()).toBe(false);
  await held.release();
  return outcome;
}

const timeout = () => new OperationTimedOutError('no answer in time', '127.0.0.1:9042');

test('Ingest: message on an unknown topic: dropped and counted, without a dead letter', async () => {
  const pipeline = await start();
  expect(await pipeline.accept('iot/v2/d/measurements', '{}')).toBe('unknown_topic');
  expect(await pipeline.messages('unknown_topic')).toBe(1);
  expect(await pipeline.messages('settled')).toBe(0);
  expect(await pipeline.deadLetters()).toEqual([]);
});

test.each([
  [
    'message with a device name of 129 characters',
    'bad_id',
    `iot/v1/${'x'.repeat(129)}/measurements`,
    JSON.stringify(SAMPLE),
  ],
  ['message of one byte over MAX_MESSAGE_BYTES', 'too_large', 'iot/v1/d/measurements', ' '.repeat(1025)],
  ['birth message with malformed JSON', 'malformed', 'iot/v1/d/birth', '{'],
])('Ingest: %s: acknowledged only after its dead letter %s is stored', async (_, code, topic, payload) => {
  const writes = new HeldWrites();
  const pipeline = await start({ settings: { MAX_MESSAGE_BYTES: '1024' }, writes });
  const hold = { write: 'deadLetters.write' };
  expect(await settleBehind(pipeline, writes, hold, () => pipeline.accept(topic, payload))).toBe('refused');
  expect(await pipeline.deadLetters()).toEqual([{ [code]: 1 }]);
  // The second settled message is that of another device.
  expect(await pipeline.messages('settled')).toBe(2);
});

test.each([
  ['before the write', false],
  ['after the write', true],
])('Ingest: two database timeouts %s: accepted at the third try, and stored once', async (_, isApplied) => {
  const pipeline = await start();
  pipeline.database.around = failing(2, timeout, isApplied);
  expect(await pipeline.measure('d', [SAMPLE])).toBe('accepted');
  expect(await pipeline.metric('iot_ingest_retries_total')).toBe(2);
  expect(await pipeline.samples('d', 's', NOW)).toEqual([[NOW, 1]]);
  expect(await pipeline.deadLetters()).toEqual([]);
});

test('Ingest: process stops during retries: the message fails as unavailable, counted as unsettled, without a dead letter', async () => {
  const pipeline = await start();
  pipeline.database.around = failing(Number.POSITIVE_INFINITY, timeout, false);
  const failed = pipeline.measure('d', [SAMPLE]).catch((error) => error);
  await until(async () => Number(await pipeline.metric('iot_ingest_retries_total')) > 0);
  pipeline.ingest.abort();
  expect(await failed).toMatchObject({ code: 'unavailable' });
  expect(await pipeline.messages('unsettled')).toBe(1);
  expect(await pipeline.messages('settled')).toBe(0);
  expect(await pipeline.deadLetters()).toEqual([]);
  expect(pipeline.ingest.unsettledBytes).toBe(0);
});

test('Ingest: a TypeError during a write: dead letter with code rejected, and the next message is stored', async () => {
  const pipeline = await start();
  pipeline.database.around = failing(1, () => new TypeError('a defect'), false);
  expect(await pipeline.measure('d', [SAMPLE])).toBe('refused');
  expect(await pipeline.deadLetters()).toEqual([{ rejected: 1 }]);
  expect(await pipeline.measure('d', [SAMPLE])).toBe('accepted');
  expect(await pipeline.samples('d', 's', NOW)).toEqual([[NOW, 1]]);
});

test('Ingest: device disconnects while its message waits for memory: not stored, and the next message is stored', async () => {
  const pipeline = await start();
  let release: () => void = () => {};
  const released = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  pipeline.database.around = async ({ table }, run) => {
    if (table === 'dead_letter') await released;
    return run();
  };
  const large = pipeline.accept('iot/v1/large/measurements', Buffer.alloc(BUDGET_BYTES, ' '));
  const leaving = new AbortController();
  const left = pipeline.measure('left', [SAMPLE], { signal: leaving.signal }).catch((error) => error);
  const waiting = track(() => pipeline.measure('waiting', [SAMPLE]));
  leaving.abort();
  expect(await left).toBeInstanceOf(MillraceError);
  expect(await left).toMatchObject({ code: 'unavailable' });
  expect(waiting.isAcknowledged()).toBe(false);

  release();
  expect(await large).toBe('refused');
  await waiting.acknowledged;
  expect(await pipeline.samples('waiting', 's', NOW)).toEqual([[NOW, 1]]);
  expect(await pipeline.lastSeen('left')).toBeUndefined();
  expect(await pipeline.messages('unsettled')).toBe(1);
  expect(pipeline.ingest.unsettledBytes).toBe(0);
});

test.each([
  ['10 min behind', -600_000],
  ['a day behind', -86_400_000],
  ['10 min ahead', 600_000],
])(
  'Ingest: clock is %s: no message is stored or acknowledged until the clock is right',
  async (_, wrongMs) => {
    const clock = { differenceMs: wrongMs };
    const pipeline = await start({
      clock: () => NOW + clock.differenceMs,
      clockDifference: async () => clock.differenceMs,
    });
    const messages = [
      () => pipeline.accept('iot/v1/empty/status', ''),
      () => pipeline.accept('iot/v1/bad/measurements', '{'),
      () => pipeline.accept('iot/v2/unknown/measurements', '{}'),
      () => pipeline.measure('good', [SAMPLE]),
      () => pipeline.measure('untimed', [{ sensor_id: 's', value: 1 }]),
      () => pipeline.submit('posted', [SAMPLE]),
      // Fills the byte budget, so that the next message begins when the clock is right.
      () => pipeline.accept('iot/v1/large/measurements', Buffer.alloc(BUDGET_BYTES)),
      () => pipeline.measure('behind', [SAMPLE]),
    ].map(track);
    await until(() => pipeline.ingest.progress.unsettled === messages.length - 1);
    expect(messages.map(({ isAcknowledged }) => isAcknowledged())).toEqual(messages.map(() => false));
    clock.differenceMs = 0;
    await Promise.all(messages.map(({ acknowledged }) => acknowledged));
    for (const device of ['good', 'posted', 'behind'])
      expect(await pipeline.samples(device, 's', NOW - 1000)).toEqual([[NOW, 1]]);
    // The time of receipt by the right clock.
    const [[ts] = []] = await pipeline.samples('untimed', 's', NOW - 60_000);
    expect(ts).toBeLessThanOrEqual(NOW);
    // Both dead letters are of the same ms, so either may come first.
    const deadLetters = await pipeline.deadLetters();
    expect(deadLetters).toHaveLength(2);
    expect(deadLetters).toEqual(expect.arrayContaining([{ malformed: 1 }, { too_large: 1 }]));
    expect(await pipeline.messages('unknown_topic')).toBe(1);
  },
);

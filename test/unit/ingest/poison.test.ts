import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { useCleanUps } from '../../support/clean-ups.ts';
import { HeldWrites } from '../../support/database/held-writes.ts';
import { track } from '../../support/database/track.ts';
import { neighborOf } from '../../support/mqtt/acknowledgement-order.ts';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

const { ResponseError } = cassandra.errors;

const HOUR = 3_600_000;
/** The middle of an hour: all samples of a test lie in this hour, and none is late. */
const NOW = Math.floor(Date.now() / HOUR) * HOUR + HOUR / 2;
const FROM = NOW - 30 * 24 * HOUR;

/** A value that the simulated database refuses in any statement. */
const POISON = 666.25;

const poison = [Buffer.alloc(8), Buffer.alloc(8)];
poison[0]?.writeDoubleBE(POISON);
poison[1]?.writeDoubleLE(POISON);

/** @param param of a statement */
const isPoisonous = (param: unknown) =>
  Buffer.isBuffer(param) && poison.some((bytes) => param.includes(bytes));

type Element = [sensor: string, ts: number, value: number];

const afterwards = useCleanUps();

async function start(settings?: Record<string, string>, writes?: HeldWrites) {
  /** of requests that write samples */
  const database: { wait: Promise<void> | null; requests: number } = { wait: null, requests: 0 };
  const pipeline = await startMemoryPipeline({
    clock: () => NOW,
    settings,
    writes,
    async around({ table, kind, queries }, run) {
      if (table === 'message' && kind !== 'select') {
        database.requests++;
        await database.wait;
      }
      // A dead letter stores the payload, which has the value as text, so the database accepts it.
      if (queries.some(({ params }) => params.some(isPoisonous))) {
        throw new ResponseError(0x2200, 'the value is refused');
      }
      return run();
    },
  });
  afterwards(() => pipeline.stop());
  return { ...pipeline, database };
}

const asJson = (elements: Element[]) =>
  elements.map(([sensor, ts, value]) => ({ sensor_id: sensor, ts, value }));

const goodOf = (elements: Element[], sensor: string): Array<[ts: number, value: number]> =>
  elements
    .filter(([name, , value]) => name === sensor && value !== POISON)
    .map(([, ts, value]) => [ts, value] as [number, number])
    .sort(([a], [b]) => a - b);

test.each([
  ['one hour', [0]],
  ['two hours', [0, HOUR]],
  ['the current hour and a late hour', [0, 5 * HOUR]],
])(
  'Ingest: the database refuses a message with samples of %s: one dead letter, and the next message is stored',
  async (_, ago) => {
    const pipeline = await start();
    const elements = ago.flatMap(
      (ms, index) =>
        [
          ['a', NOW - ms, 10 * index + 1],
          ['b', NOW - ms + 3, POISON],
        ] as Element[],
    );
    expect(await pipeline.measure('d', asJson(elements))).toBe('refused');
    expect(await pipeline.deadLetters()).toEqual([{ rejected: 1 }]);
    expect(await pipeline.metric('iot_ingest_samples_total')).toBe(0);
    expect(await pipeline.metric('iot_ingest_dead_letters_total{code="rejected"}')).toBe(1);
    expect(await pipeline.measure('d', asJson([['a', NOW + 5, 5]]))).toBe('accepted');
    expect((await pipeline.samples('d', 'a', NOW + 5)).at(-1)).toEqual([NOW + 5, 5]);
  },
);

test('HTTP submission: the database refuses the samples: the result is 0 accepted, with code rejected', async () => {
  const pipeline = await start();
  const elements: Element[] = [
    ['a', NOW, 1],
    ['a', NOW + 1, POISON],
  ];
  expect(await pipeline.submit('d', asJson(elements))).toMatchObject({
    accepted: 0,
    refused: [{ index: -1, code: 'rejected' }],
  });
});

test('Ingest: a refused message shares its request with another message: that message is retried in one request', async () => {
  const pipeline = await start({ INGEST_MAX_IN_FLIGHT: '1' });
  const known: Element[] = [
    ['a', NOW - 2, 0],
    ['b', NOW - 1, 0],
  ];
  await pipeline.measure('d', asJson(known));
  await pipeline.measure('other', asJson([['a', NOW, 0]]));
  pipeline.database.requests = 0;
  let release: () => void = () => {};
  pipeline.database.wait = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  // This message has the only place in the window, so the next two messages wait and share a request.
  const first = pipeline.measure('other', asJson([['a', NOW + 1, 1]]));
  const good = Array.from({ length: 10 }, (__, index) => ['a', NOW + index, index] as Element);
  const bad: Element[] = [
    ['b', NOW, 1],
    ['b', NOW + 1, POISON],
  ];
  const both = [pipeline.measure('d', asJson(good)), pipeline.measure('d', asJson(bad))];
  release();
  expect(await Promise.all([first, ...both])).toEqual(['accepted', 'accepted', 'refused']);
  expect(await pipeline.samples('d', 'a', FROM)).toEqual([[NOW - 2, 0], ...goodOf(good, 'a')]);
  expect(await pipeline.samples('d', 'b', FROM)).toEqual([[NOW - 1, 0]]);
  expect(await pipeline.deadLetters()).toEqual([{ rejected: 1 }]);
  // One request for the other device, one for both messages, and one for each message alone.
  expect(pipeline.database.requests).toBe(4);
});

test('Ingest: a message is retried without the refused message of its request: acknowledged only after the retry', async () => {
  const writes = new HeldWrites();
  const pipeline = await start({ INGEST_MAX_IN_FLIGHT: '1' }, writes);
  await pipeline.measure('d', asJson([['a', NOW - 1, 0]]));
  await pipeline.measure('other', asJson([['a', NOW, 0]]));
  let release: () => void = () => {};
  pipeline.database.wait = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  const first = pipeline.measure('other', asJson([['a', NOW + 1, 1]]));
  // Requests: that of the other device, that of both messages, then that of the good message alone.
  const held = writes.hold({ write: 'write_measurements', nth: 3 });
  const bad = pipeline.measure('d', asJson([['a', NOW + 1, POISON]]));
  const good = track(() => pipeline.measure('d', asJson([['a', NOW, 1]])));
  release();
  await held.reached();
  await first;
  await writes.quiet();
  await pipeline.measure(neighborOf('d'), asJson([['a', NOW, 1]]));
  expect(good.isAcknowledged()).toBe(false);
  await held.release();
  await good.acknowledged;
  expect(await bad).toBe('refused');
  expect(await pipeline.samples('d', 'a', NOW)).toEqual([[NOW, 1]]);
});

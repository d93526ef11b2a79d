import { expect, test } from '@jest/globals';
import pino from 'pino';
import { SampleWrites } from '../../../../api/store/measurements/writes.ts';
import type { PendingRow } from '../../../../api/store/sending/pending-rows.ts';
import { Retry } from '../../../../api/store/sending/retry.ts';
import type { Query } from '../../../../api/store/sending/session.ts';
import { MillraceError } from '../../../../common/errors.ts';
import { visitBlock } from '../../../../schema/packed/block.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';

const SENSOR = Buffer.alloc(16, 1);
const A = { bytes: Buffer.alloc(16, 10), sensors: { size: 1 } };

function valuesOf({ params }: Query): number[] {
  const bucket = Number((params[1] as Buffer).readBigInt64BE());
  const values: number[] = [];
  visitBlock(bucket, params.at(-1) as Buffer, (_, series) => values.push(...series().values));
  return values;
}

/** Sample writes of the store, with a session whose requests the test sends and ends. */
function open() {
  const waiting: Array<{ send: () => void; end: (error?: Error) => void }> = [];
  const sent: number[][][] = [];
  const session = {
    write: async () => {},
    writeMerged: (row: PendingRow<unknown>) =>
      new Promise((resolve, reject) => {
        waiting.push({
          send: () => sent.push(row.encode().map(valuesOf)),
          end: (error) => (error ? reject(error) : resolve(undefined)),
        });
      }) as Promise<void>,
  };
  const retry = new Retry({ logger: pino({ level: 'silent' }), onRetry: () => {} });
  const noticed: number[] = [];
  const watch = {
    note: (_device: unknown, _hour: unknown, rows: number) => noticed.push(rows),
  } as never;
  const writes = new SampleWrites({ session, retry, watch });
  const add = (device: typeof A, hour: number, value: number) =>
    writes.write(device, [{ sensor: SENSOR, times: [hour * HOUR_MS + value], values: [value] }]);
  return { writes, add, waiting, sent, noticed };
}

test('Sample writes: three messages of one device and hour wait: stored in one row; later messages in the next row', async () => {
  const { add, waiting, sent, noticed } = open();
  const done = [3, 1, 2].map((value) => add(A, 0, value));
  waiting[0]?.send();
  done.push(add(A, 0, 4));
  expect(waiting).toHaveLength(2);
  waiting[1]?.send();
  expect(sent).toEqual([[[1, 2, 3]], [[4]]]);
  expect(noticed).toEqual([1, 1]);
  for (const { end } of waiting) end();
  await Promise.all(done);
});

test('Sample writes: a request is retried: the same row is sent, without messages that arrived later', () => {
  const { add, waiting, sent, noticed } = open();
  void add(A, 0, 1);
  void add(A, 0, 2);
  waiting[0]?.send();
  void add(A, 0, 3);
  waiting[0]?.send();
  expect(sent).toEqual([[[1, 2]], [[1, 2]]]);
  expect(noticed).toEqual([1]);
});

test('Sample writes: database refuses a row with two messages: each message is retried alone, and only one fails', async () => {
  const { add, waiting, sent } = open();
  const done = [1, 2].map((value) => add(A, 0, value));
  const outcomes = Promise.allSettled(done);
  waiting[0]?.send();
  waiting[0]?.end(new MillraceError('rejected', 'too large'));
  while (waiting.length < 3) await new Promise((resolve) => setImmediate(resolve));
  for (const { send } of waiting.slice(1)) send();
  waiting[1]?.end(new MillraceError('rejected', 'too large'));
  waiting[2]?.end();
  expect(sent).toEqual([[[1, 2]], [[1]], [[2]]]);
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});

test('Sample writes: database refuses a row with one message: the write fails without a retry', async () => {
  const { add, waiting } = open();
  const alone = add(A, 0, 1);
  waiting[0]?.send();
  waiting[0]?.end(new MillraceError('rejected', 'too large'));
  await expect(alone).rejects.toThrow('too large');
  expect(waiting).toHaveLength(1);
});

test('Sample writes: observer of blocks is set: notified in order of arrival, with the committed rows', async () => {
  const { writes, add, waiting } = open();
  const seen: string[] = [];
  let places = 0;
  writes.observeBlocks({
    expect: () => ++places,
    settle: (place, bucket, rows) =>
      seen.push(`${place} ${bucket / HOUR_MS} ${rows.map(valuesOf).join(' ')}`),
  });
  const done = [add(A, 0, 1), add(A, 0, 2), add(A, 1, 3)];
  const outcomes = Promise.allSettled(done);
  expect(places).toBe(2);
  for (const { send } of waiting) send();
  waiting[1]?.end(new MillraceError('rejected', 'too large'));
  waiting[0]?.end();
  expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(seen.sort()).toEqual(['1 0 1,2', '2 1 ']);
});

test('Device with 100 sensors: samples of an hour arrive four days later: the number of partitions is stored again', async () => {
  let now = 0;
  let written = 0;
  const session = {
    async write() {
      written++;
    },
    async writeMerged(row: PendingRow<unknown>) {
      row.encode();
    },
  };
  const retry = new Retry({ logger: pino({ level: 'silent' }), onRetry: () => {} });
  const watch = { note() {} } as never;
  const writes = new SampleWrites({ session, retry, watch, now: () => now });
  const device = { bytes: Buffer.alloc(16, 12), sensors: { size: 100 } };
  const send = () => writes.write(device, [{ sensor: SENSOR, times: [1], values: [1] }]);
  await send();
  now = 23 * HOUR_MS;
  await send();
  expect(written).toBe(1);
  now = 4 * 24 * HOUR_MS;
  await send();
  expect(written).toBe(2);
});

import { expect, test } from '@jest/globals';
import { ByteQueue } from '../../../../api/features/kafka/byte-queue.ts';
import { usedBytes } from '../../../support/memory.ts';
import { until } from '../../../support/until.ts';

function offer(queue: ByteQueue<{ size: number; committedAt: number }>, bytes: number) {
  const fits = queue.reserve(bytes);
  if (fits) queue.push({ size: bytes, committedAt: bytes });
  return fits;
}

test('Kafka byte queue: take(limit) returns blocks in order, up to the limit, but at least one', () => {
  const queue = new ByteQueue(1e6);
  for (const bytes of [500, 400, 300, 2000]) offer(queue, bytes);
  expect(queue.take(1000).map(({ size }) => size)).toEqual([500, 400]);
  expect(queue.take(1000).map(({ size }) => size)).toEqual([300]);
  expect(queue.oldest).toBe(2000);
  expect(queue.take(1000).map(({ size }) => size)).toEqual([2000]);
  expect(queue.take(1000)).toEqual([]);
  expect(queue.oldest).toBeNull();
});

test('Kafka byte queue: 10,000 blocks pass through: none is lost or repeated', () => {
  const queue = new ByteQueue(1e9);
  let taken = 0;
  for (let index = 0; index < 10_000; index++) {
    offer(queue, 1 + (index % 7));
    if (index % 3 === 0) {
      const some = queue.take(10);
      taken += some.length;
      queue.release(some);
    }
  }
  for (let some = queue.take(100); some.length > 0; some = queue.take(100)) {
    taken += some.length;
    queue.release(some);
  }
  expect(taken).toBe(10_000);
  expect(queue.bytes).toBe(0);
});

test('Kafka byte queue: the queue is empty: untilFilled() ends with the next block, or with the abort signal', async () => {
  const queue = new ByteQueue(1e6);
  const { signal } = new AbortController();
  const waiting = queue.untilFilled(60_000, signal);
  offer(queue, 1);
  await waiting;
  queue.take(1);
  const ending = new AbortController();
  const ended = queue.untilFilled(60_000, ending.signal);
  ending.abort();
  await ended;
  expect(queue.length).toBe(0);
});

test('Kafka byte queue: the first block was sent, a second one waits: the queue does not keep the first block in memory', async () => {
  const queue = new ByteQueue(1e6);
  /** @returns the item that was sent */
  function sendFirst(): WeakRef<object> {
    const first = { size: 1000, committedAt: 0 };
    for (const item of [first, { size: 1000, committedAt: 1 }]) {
      queue.reserve(item.size);
      queue.push(item);
    }
    queue.release(queue.take(1000));
    return new WeakRef(first);
  }
  const sent = sendFirst();
  await until(
    () => {
      usedBytes();
      return sent.deref() === undefined;
    },
    { what: 'the end of the first item' },
  );
  expect(queue.length).toBe(1);
});

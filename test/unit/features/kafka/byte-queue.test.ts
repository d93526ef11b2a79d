import { expect, test } from '@jest/globals';
import { ByteQueue } from '../../../../api/features/kafka/byte-queue.ts';
import { usedBytes } from '../../../support/memory.ts';
import { until } from '../../../support/until.ts';

function offer(queue: ByteQueue<{ size: number; committedAt: number }>, bytes: number) {
  const fits = queue.reserve(bytes);
  if (fits) queue.push({ size: bytes, committedAt: bytes });
  return fits;
}

test('Kafka byte queue: take(limit): returns blocks in order, up to the limit, but at least one', () => {
  const queue = new ByteQueue(1e6);
  for (const bytes of [500, 400, 300, 2000]) offer(queue, bytes);
  expect(queue.take(1000).map(({ size }) => size)).toEqual([500, 400]);
  expect(queue.take(1000).map(({ size }) => size)).toEqual([300]);
  expect(queue.oldest).toBe(2000);
  expect(queue.take(1000).map(({ size }) => size)).toEqual([2000]);
  expect(queue.take(1000)).toEqual([]);
  expect(queue.oldest).toBeNull();
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

import { expect, test } from '@jest/globals';
import { HotPath } from '../../../../api/features/kafka/hot-path.ts';
import { usedBytes } from '../../../support/memory.ts';

// So many that the memory of other tests in this process, which comes and goes, does not count.
const BLOCKS = 50_000;

/** Small Buffers that the other parts of a process make between two blocks, in bytes. */
const OTHER_BUFFERS = [600, 600, 600];

test('Kafka hot path: blocks wait for Kafka: they take no more memory than the queue counts', () => {
  const path = new HotPath({
    queueBytes: 1e9,
    // Nothing is sent, because the path is not started.
    createSender: () => ({}) as never,
    schemas: { wait: async () => true },
    records: {} as never,
    notes: {} as never,
    sendsLatest: false,
    clock: () => 0,
    metrics: {} as never,
  });
  const device = { id: 'a' } as never;
  const before = usedBytes();
  for (let index = 0; index < BLOCKS; index++) {
    const [digest, samples] = [Buffer.allocUnsafe(8), Buffer.allocUnsafe(200)];
    for (const size of OTHER_BUFFERS) Buffer.allocUnsafe(size);
    const row = { params: [null, null, null, null, digest, samples] } as never;
    path.blocks.settle(path.blocks.expect(device), 0, [row]);
  }
  const used = usedBytes() - before;
  expect(path.queueBytes).toBe(BLOCKS * (320 + 200));
  expect(used).toBeLessThan(1.1 * path.queueBytes);
});

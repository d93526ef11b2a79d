import { expect, test } from '@jest/globals';
import { findAnnounced } from '../../../../api/features/kafka/announced.ts';
import { HotPath } from '../../../../api/features/kafka/hot-path.ts';
import { usedBytes } from '../../../support/memory.ts';

// So many that the memory of other tests in this process, which comes and goes, does not count.
const BLOCKS = 50_000;

/** Small Buffers that the other parts of a process make between two blocks, in bytes. */
const OTHER_BUFFERS = [600, 600, 600];

/** Nothing is sent, because the path is not started. */
const createPath = (queueBytes: number = 1e9, skip: (count?: number) => void = () => {}) =>
  new HotPath({
    queueBytes,
    createSender: () => ({}) as never,
    schemas: { wait: async () => true },
    records: {} as never,
    notes: {} as never,
    sendsLatest: false,
    clock: () => 0,
    metrics: { skipped: { inc: skip } } as never,
  });

/** Commits blocks of 200 bytes. */
function commit(path: HotPath, count: number) {
  const device = { id: 'a' } as never;
  for (let index = 0; index < count; index++) {
    const [digest, samples] = [Buffer.allocUnsafe(8), Buffer.allocUnsafe(200)];
    for (const size of OTHER_BUFFERS) Buffer.allocUnsafe(size);
    const row = { params: [null, null, null, null, digest, samples] } as never;
    path.blocks.settle(path.blocks.expect(device), 0, [row]);
  }
}

test('Kafka hot path: blocks wait for Kafka: they take no more memory than the queue counts', () => {
  const path = createPath();
  const before = usedBytes();
  commit(path, BLOCKS);
  const used = usedBytes() - before;
  expect(path.queueBytes).toBe(BLOCKS * (320 + 200));
  expect(used).toBeLessThan(1.1 * path.queueBytes);
});

test('Kafka hot path: more blocks wait than the queue has room for: the others are skipped and counted', () => {
  let skipped = 0;
  const path = createPath(100_000, (count = 1) => (skipped += count));
  commit(path, 1000);
  expect(path.queueBytes).toBeGreaterThan(50_000);
  expect(path.queueBytes).toBeLessThanOrEqual(100_000);
  expect(skipped).toBe(1000 - path.queueBytes / (320 + 200));
});

const ITEM = { key: 'pump', content: { id: 'x' }, times: [] };

test('Kafka completion: an entry of the outbox is of another feature: that feature finds it, and without the feature it is not sent', async () => {
  const find = (finders: Array<[string, () => Promise<typeof ITEM>]>) =>
    findAnnounced({ store: {} as never, announced: new Map(finders) }, 3, { kind: 'note', id: 'x' });
  expect(await find([['note', async () => ITEM]])).toEqual({ kind: 'note', id: 'x', group: 3, item: ITEM });
  expect(await find([])).toBeNull();
});

test('Kafka hot path: a feature announces a kind that has no topic: nothing is queued', () => {
  const path = createPath();
  path.announce({ announcement: { kind: 'alarm', id: 'x', group: 0, item: ITEM }, noticed: 0 });
  const { queueBytes } = path;
  expect(queueBytes).toBeGreaterThan(0);
  path.announce({ announcement: { kind: 'note', id: 'x', group: 0, item: ITEM }, noticed: 0 });
  expect(path.queueBytes).toBe(queueBytes);
});

import { expect, test } from '@jest/globals';
import { findAnnounced } from '../../../../api/features/kafka/announced.ts';
import { HotPath } from '../../../../api/features/kafka/hot-path.ts';

const ITEM = { key: 'pump', content: { id: 'x' }, times: [] };

test('Kafka completion: an entry of the outbox is of another feature: that feature finds it, and without the feature it is not sent', async () => {
  const find = (finders: Array<[string, () => Promise<typeof ITEM>]>) =>
    findAnnounced({ store: {} as never, announced: new Map(finders) }, 3, { kind: 'note', id: 'x' });
  expect(await find([['note', async () => ITEM]])).toEqual({ kind: 'note', id: 'x', group: 3, item: ITEM });
  expect(await find([])).toBeNull();
});

test('Kafka hot path: a feature announces a kind that has no topic: nothing is queued', () => {
  const path = new HotPath({
    queueBytes: 1e9,
    createSender: () => ({}) as never,
    schemas: { wait: async () => true },
    records: {} as never,
    notes: {} as never,
    sendsLatest: false,
    clock: () => 0,
    metrics: {} as never,
  });
  path.announce({ announcement: { kind: 'alarm', id: 'x', group: 0, item: ITEM }, noticed: 0 });
  const { queueBytes } = path;
  expect(queueBytes).toBeGreaterThan(0);
  path.announce({ announcement: { kind: 'note', id: 'x', group: 0, item: ITEM }, noticed: 0 });
  expect(path.queueBytes).toBe(queueBytes);
});

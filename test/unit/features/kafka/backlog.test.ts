import { expect, test } from '@jest/globals';
import { backlogOf } from '../../../../api/features/kafka/backlog.ts';
import { closingOf, HOUR_MS } from '../../../../schema/rules.ts';

const HOUR = Date.UTC(2026, 4, 1, 10);

test('Streaming backlog: topics are behind in some shards: hours of the slowest shard and the number of shards are reported', () => {
  const shards = [
    { until: HOUR, topics: new Map([['batches', HOUR + 3 * HOUR_MS]]) },
    { until: HOUR + HOUR_MS, topics: new Map([['batches', HOUR + 2 * HOUR_MS]]) },
    { until: HOUR + 3 * HOUR_MS, topics: new Map() },
  ];
  const found = backlogOf(shards, closingOf(HOUR + 2 * HOUR_MS));
  expect(found).toEqual([
    { topic: 'batches', hours: 1, shards: 1 },
    { topic: 'events', hours: 3, shards: 2 },
    { topic: 'dead-letters', hours: 3, shards: 2 },
    { topic: 'alarms', hours: 3, shards: 2 },
    { topic: 'corrections', hours: 3, shards: 2 },
  ]);
});

import { expect, test } from '@jest/globals';
import type { Feature } from '../../../api/feature.ts';
import { FEATURES } from '../../../api/features/index.ts';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

const fail = () => {
  throw new Error('a defect');
};

async function startWith(topics: Feature['topics']) {
  FEATURES.push({ name: 'further', topics, create: async () => ({ routes: [] }) });
  try {
    return await startMemoryPipeline();
  } finally {
    FEATURES.pop();
  }
}

// Without an outcome, the broker would deliver the message again without end.
test('Topics: a feature fails for an unknown topic: the message is dropped as without the feature', async () => {
  const pipeline = await startWith(() => ({
    kind: 'broken',
    handler: {} as never,
    match: fail,
    onUnmatched: fail,
    onInterrupted: fail,
  }));
  expect(await pipeline.accept('plant/d', '1')).toBe('unknown_topic');
  expect(await pipeline.measure('d', [{ sensor_id: 's', value: 1 }])).toBe('accepted');
  pipeline.ingest.topics.interrupt();
  await pipeline.stop();
});

test('Topics: a feature handles topics of a kind of the core: ingest cannot be created, and the error has the kind', async () => {
  const starting = startWith(() => ({ kind: 'birth', handler: {} as never }));
  await expect(starting).rejects.toThrow('Two features handle topics of the kind birth.');
});

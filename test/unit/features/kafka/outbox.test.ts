import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const afterwards = useCleanUps();

test('Dead letter: a stream to Kafka is configured: a stream_outbox row is written before the dead letter', async () => {
  const written: string[] = [];
  const pipeline = await startMemoryPipeline({
    settings: { STREAM_KAFKA: '127.0.0.1:9092' },
    async around({ table, kind }, run) {
      if (kind !== 'select' && /outbox|dead_letter/.test(table)) written.push(table);
      return run();
    },
  });
  afterwards(() => pipeline.stop());
  await pipeline.accept('iot/v1/d/measurements', '{');
  expect(written).toEqual(['stream_outbox', 'dead_letter']);
});

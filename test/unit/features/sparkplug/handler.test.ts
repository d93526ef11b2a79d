import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { LATER, T0, vector } from '../../../support/features/sparkplug/vectors.ts';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const TOPIC = 'spBv1.0/plant/NBIRTH/edge-1';

const afterwards = useCleanUps();

test('Sparkplug edge node: NBIRTH of an earlier session is redelivered (DUP): session and clock offset do not change', async () => {
  const pipeline = await startMemoryPipeline({ clock: () => T0 + LATER });
  afterwards(() => pipeline.stop());
  const { id } = pipeline.keyOf('plant/edge-1');
  await pipeline.accept(TOPIC, vector('nbirth'));
  await pipeline.accept(TOPIC, vector('nbirthAgain'));
  const session = { session: T0 + LATER, endedSessions: [T0], clockOffset: 0, state: 'online' };
  expect(pipeline.ingest.peek(id)).toMatchObject(session);
  await pipeline.accept(TOPIC, vector('nbirth'), { dup: true });
  expect(pipeline.ingest.peek(id)).toMatchObject(session);
});

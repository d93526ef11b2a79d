import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const afterwards = useCleanUps();

test.each([
  ['true', 'refused', { malformed: 1 }],
  ['false', 'unknown_topic', null],
])('Sparkplug NBIRTH: not protobuf, SPARKPLUG=%s: result %s', async (SPARKPLUG, outcome, codes) => {
  const pipeline = await startMemoryPipeline({ settings: { SPARKPLUG } });
  afterwards(() => pipeline.stop());
  expect(await pipeline.accept('spBv1.0/g/NBIRTH/n', 'x')).toBe(outcome);
  expect(await pipeline.deadLetters()).toEqual(codes ? [codes] : []);
});

import { expect, test } from '@jest/globals';
import { useStarted } from '../../../support/clean-ups.ts';
import { encodePayload } from '../../../support/features/sparkplug/payload.ts';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const NOW = 1_795_348_840_000;

const pipeline = useStarted(
  () => startMemoryPipeline({ clock: () => NOW }),
  ({ stop }) => stop(),
);

test('Encoding: Sparkplug birth with names in Windows-1252 and UTF-16: only these metrics are refused', async () => {
  const metrics = ['good', 'K?che', '?x'].map((name) => ({
    name,
    ts: NOW,
    type: 'double' as const,
    value: 1,
  }));
  const payload = encodePayload({ ts: NOW, seq: 0, metrics });
  payload[payload.indexOf('?che')] = 0xfc;
  payload[payload.indexOf('?x')] = 0;
  await pipeline.accept('spBv1.0/plant/NBIRTH/edge', payload);
  expect(Object.keys(await pipeline.latest('plant/edge'))).toEqual(['good']);
  expect((await pipeline.deadLetters()).at(-1)).toEqual({ bad_id: 2 });
});

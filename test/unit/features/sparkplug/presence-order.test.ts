import { expect, test } from '@jest/globals';
import { useStarted } from '../../../support/clean-ups.ts';
import { HeldWrites } from '../../../support/database/held-writes.ts';
import { bdSeq, encodePayload } from '../../../support/features/sparkplug/payload.ts';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const writes = new HeldWrites();
const pipeline = useStarted(
  () => startMemoryPipeline({ writes }),
  ({ stop }) => stop(),
);

const stateOf = async (device: string) =>
  (await pipeline.store.devices.device(pipeline.keyOf(device)))?.state;

test('Sparkplug presence: DDATA is committed after an NDEATH that arrived later: device and edge node stay offline', async () => {
  const ts = Date.now();
  const metrics = [{ name: 's', type: 'double' as const, value: 1 }];
  await pipeline.accept('spBv1.0/hall/NBIRTH/edge', encodePayload({ ts, seq: 0, metrics: [bdSeq(0)] }));
  await pipeline.accept('spBv1.0/hall/DBIRTH/edge/pump', encodePayload({ ts, seq: 1, metrics }));
  const held = writes.hold({ write: 'write_latest' });
  const data = encodePayload({ ts: ts + 1000, seq: 2, metrics });
  const measured = pipeline.accept('spBv1.0/hall/DDATA/edge/pump', data);
  await held.reached();
  await pipeline.accept('spBv1.0/hall/NDEATH/edge', encodePayload({ ts, metrics: [bdSeq(0)] }));
  await held.release();
  expect(await measured).toBe('accepted');
  expect(await stateOf('hall/edge/pump')).toBe('offline');
  expect(await stateOf('hall/edge')).toBe('offline');
});

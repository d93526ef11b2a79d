import { expect, test } from '@jest/globals';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const afterwards = useCleanUps();

test('AUTO_REGISTER_MAX: limit is reached, another process retires a device: a new device can register after a minute', async () => {
  let now = Date.UTC(2026, 10, 25, 12);
  const clock = () => now;
  const settings = { AUTO_REGISTER_MAX: '1' };
  const ingest = await startMemoryPipeline({ clock, settings });
  afterwards(() => ingest.stop());
  const http = await startMemoryPipeline({ clock, settings, database: ingest.client });
  afterwards(() => http.stop());
  const measure = (device: string) => ingest.measure(device, [{ sensor_id: 't', ts: now, value: 1 }]);
  expect(await measure('a')).toBe('accepted');
  await http.ingest.retire(identifyDevice('a') as Identity);
  expect(await measure('b')).toBe('refused');
  now += 60_000;
  expect(await measure('b')).toBe('accepted');
  expect(await measure('c')).toBe('refused');
});

import { expect, test } from '@jest/globals';
import { identifyDevice } from '../../../../schema/ids.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.js';

/** @import { Identity } from '../../../../schema/ids.js' */

const afterwards = useCleanUps();

test('AUTO_REGISTER_MAX: limit is reached, another process retires a device: a new device can register after a minute', async () => {
  let now = Date.UTC(2026, 10, 25, 12);
  const clock = () => now;
  const settings = { AUTO_REGISTER_MAX: '1' };
  const ingest = await startMemoryPipeline({ clock, settings });
  afterwards(() => ingest.stop());
  const http = await startMemoryPipeline({ clock, settings, database: ingest.client });
  afterwards(() => http.stop());
  /** @param {string} device */
  const measure = (device) => ingest.measure(device, [{ sensor_id: 't', ts: now, value: 1 }]);
  expect(await measure('a')).toBe('accepted');
  await http.ingest.retire(/** @type {Identity} */ (identifyDevice('a')));
  expect(await measure('b')).toBe('refused');
  now += 60_000;
  expect(await measure('b')).toBe('accepted');
  expect(await measure('c')).toBe('refused');
});

import { afterEach, expect, test } from '@jest/globals';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.js';

/** @import { MemoryPipeline } from '../../../support/system/memory-pipeline.js' */

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 21, 12, 20);

/** @type {MemoryPipeline} */
let pipeline;
afterEach(() => pipeline.stop());

test('Storing measurements: the commit takes an hour: the sample observer is notified again before the message ends', async () => {
  let now = NOW;
  pipeline = await startMemoryPipeline({ clock: () => now });
  /** @type {string[]} */
  const calls = [];
  pipeline.ingest.setSampleObserver({
    note(_device, _series, seenAt) {
      calls.push(seenAt === null ? 'note all' : 'note');
      if (seenAt === null)
        return new Promise((resolve) =>
          setImmediate(() => {
            calls.push('noted');
            resolve();
          }),
        );
      // The message is received, and not committed yet.
      if (calls.length === 1) now += HOUR_MS;
      return undefined;
    },
    observe: () => calls.push('observe'),
  });
  const measure = () => pipeline.measure('oven', [{ sensor_id: 'heat', ts: now, value: 1 }]);
  await measure();
  expect(calls).toEqual(['note', 'note all', 'noted', 'observe']);
  await measure();
  expect(calls.slice(4)).toEqual(['note', 'observe']);
});

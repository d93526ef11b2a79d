import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { identifyDevice } from '../../../schema/ids.js';
import { greaterValue } from '../../../schema/packed/series.js';
import { readMemoryTables } from '../../support/memory-store/index.js';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.js';

/** @import { Identity } from '../../../schema/ids.js' */

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 25, 12);

/** A step is a measurement with its age in ms, a retirement, or a restart of the process. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ age: fc.constantFrom(0, 1, 2, 1000, DAY_MS, 300 * DAY_MS), value: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.constant(/** @type {const} */ ('retire')) },
  { weight: 1, arbitrary: fc.constant(/** @type {const} */ ('restart')) },
);

test('Device retirement: random writes, retirements and restarts: the latest value is the newest one since the last retirement', async () => {
  const tables = await readMemoryTables();
  let now = NOW;
  const clock = () => now;
  let pipeline = await startMemoryPipeline({ clock, tables });
  let devices = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const device = `d${devices++}`;
      /** @type {Map<number, number>} */
      const written = new Map();
      for (const next of steps) {
        now += 10;
        if (next === 'restart') {
          await pipeline.stop();
          pipeline = await startMemoryPipeline({ clock, tables, database: pipeline.client });
        } else if (next === 'retire') {
          await pipeline.ingest.retire(/** @type {Identity} */ (identifyDevice(device)));
          written.clear();
        } else {
          const ts = NOW - next.age;
          await pipeline.measure(device, [{ sensor_id: 's', ts, value: next.value }]);
          written.set(ts, greaterValue(written.get(ts) ?? 0, next.value));
        }
        const newest = [...written].sort(([a], [b]) => a - b).at(-1);
        expect((await pipeline.latest(device))['s']).toEqual(newest);
      }
    }),
    { numRuns: 40, seed: 1 },
  );
  await pipeline.stop();
});

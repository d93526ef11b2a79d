import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Identity, identifyDevice } from '../../../schema/ids.ts';
import { greaterValue } from '../../../schema/packed/series.ts';
import { readMemoryTables } from '../../support/memory-store/index.ts';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 25, 12);

/** A step is a measurement with its age in ms, a retirement, or a restart of the process. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ age: fc.constantFrom(0, 1, 2, 1000, DAY_MS, 300 * DAY_MS), value: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.constant('retire' as const) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
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
      const written: Map<number, number> = new Map();
      for (const next of steps) {
        now += 10;
        if (next === 'restart') {
          await pipeline.stop();
          pipeline = await startMemoryPipeline({ clock, tables, database: pipeline.client });
        } else if (next === 'retire') {
          await pipeline.ingest.retire(identifyDevice(device) as Identity);
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

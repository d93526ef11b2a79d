import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../support/clean-ups.ts';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

const HOUR = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR) * HOUR + HOUR / 2;
/** More sensors than one part holds. */
const SENSORS = 100;

const afterwards = useCleanUps();

async function startWide() {
  let written = 0;
  const pipeline = await startMemoryPipeline({
    clock: () => NOW,
    around: ({ queries }, run) => {
      written += queries.filter(({ query }) => query.startsWith('UPDATE message SET parts')).length;
      return run();
    },
  });
  afterwards(() => pipeline.stop());
  const sensors = Array.from({ length: SENSORS }, (_, index) => `s${index}`);
  await pipeline.measure(
    'wide',
    sensors.map((sensor_id) => ({ sensor_id, ts: NOW, value: 1 })),
  );
  return {
    ...pipeline,
    measureHours: (hours: number) =>
      pipeline.measure(
        'wide',
        Array.from({ length: hours }, (_, index) => ({
          sensor_id: 's0',
          ts: NOW - index * HOUR,
          value: index,
        })),
      ),
    written: () => written,
  };
}

test('Device with 100 sensors: its hours are sent again: the number of partitions of each hour is written only once', async () => {
  const pipeline = await startWide();
  const before = pipeline.written();
  await pipeline.measureHours(3);
  await pipeline.measureHours(3);
  expect(pipeline.written() - before).toBe(2);
});

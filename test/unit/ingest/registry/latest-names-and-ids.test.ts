import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../../schema/ids.ts';
import { greaterValue } from '../../../../schema/packed/series.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const HOUR = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR) * HOUR + HOUR / 2;
const OLDEST = -5;

const afterwards = useCleanUps();

function sensorId(device: string, sensor: string): string {
  const { id } = identifyDevice(device) as Identity;
  return (identifySensor(id, sensor) as SensorIdentity).id;
}

/** A sample of a message. `offset`: ms after NOW */
const sample = fc.record({
  sensor: fc.constantFrom('a', 'b', 'c'),
  byId: fc.boolean(),
  offset: fc.integer({ min: OLDEST, max: 0 }),
  value: fc.constantFrom(-2, -1, 1, 2, 3),
});

type Sample = { sensor: string; byId: boolean; offset: number; value: number };

/** The samples of each sensor by the rule of data-model.md, computed one by one. */
function bruteForce(samples: Sample[]) {
  const sensors: Map<string, Map<number, number>> = new Map();
  for (const { sensor, offset, value } of samples) {
    const values = sensors.get(sensor) ?? new Map();
    sensors.set(sensor, values);
    const known = values.get(offset);
    values.set(offset, known === undefined ? value : greaterValue(known, value));
  }
  return new Map(
    [...sensors].map(([sensor, values]) => [
      sensor,
      [...values].sort(([a], [b]) => a - b).map(([offset, value]) => [NOW + offset, value]),
    ]),
  );
}

test('Latest values: messages refer to sensors by name or by id: the newest sample is shown, and all samples are stored', async () => {
  const pipeline = await startMemoryPipeline({ clock: () => NOW });
  afterwards(() => pipeline.stop());
  const messages = fc.array(fc.array(sample, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 });
  let devices = 0;
  await fc.assert(
    fc.asyncProperty(messages, fc.boolean(), async (sent, atOnce) => {
      const device = `d${devices++}`;
      const send = (samples: Sample[]) =>
        pipeline.measure(
          device,
          samples.map(({ sensor, byId, offset, value }) => ({
            sensor_id: byId ? sensorId(device, sensor) : sensor,
            ts: NOW + offset,
            value,
          })),
        );
      // The first message refers to its sensor by name, so the registry has a name before a message refers to a sensor by id.
      const named = [{ sensor: 'a', byId: false, offset: OLDEST, value: 1 }];
      await send(named);
      if (atOnce) await Promise.all(sent.map(send));
      else for (const message of sent) await send(message);
      for (const [sensor, samples] of bruteForce([...named, ...sent.flat()])) {
        const rows = await pipeline.store.devices.sensors(pipeline.keyOf(device));
        const row = rows.find(({ id }) => id === sensorId(device, sensor));
        expect([row?.ts, row?.value]).toEqual(samples.at(-1));
        expect(await pipeline.samples(device, sensor, NOW + OLDEST)).toEqual(samples);
      }
    }),
    { numRuns: 50 },
  );
});

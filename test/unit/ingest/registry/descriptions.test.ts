import { expect, test } from '@jest/globals';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const afterwards = useCleanUps();

/** @param unit of the sensor */
const payloadOf = (unit: string, sensor: string = 't') =>
  JSON.stringify({ sensors: [{ sensor_id: sensor, unit }] });

const DEVICE = identifyDevice('d') as Identity;

/** Two processes with one database: the device sends to one, a client of HTTP to the other. Messages come one second apart. */
async function startTwo() {
  let now = Date.UTC(2026, 10, 25, 12);
  const clock = () => now;
  const broker = await startMemoryPipeline({ clock });
  afterwards(() => broker.stop());
  const http = await startMemoryPipeline({ clock, database: broker.client });
  afterwards(() => http.stop());
  return {
    publishBirth(unit: string, sensor?: string) {
      now += 1000;
      return broker.accept('iot/v1/d/birth', payloadOf(unit, sensor));
    },

    describe(unit: string) {
      now += 1000;
      return http.ingest.descriptions.device(DEVICE, Buffer.from(payloadOf(unit)));
    },

    describeSensor(sensor: string, unit: string) {
      now += 1000;
      return http.ingest.descriptions.sensor(DEVICE, sensor, Buffer.from(JSON.stringify({ unit })));
    },

    submit() {
      now += 1000;
      return http.submit('d', [{ sensor_id: 't', ts: now, value: 1 }]);
    },

    async unit() {
      const [sensor] = await broker.store.devices.sensors(broker.keyOf('d'));
      return sensor?.unit;
    },
  };
}

test('Device description: unit set over HTTP, then a birth reaches another process: the unit of the birth is stored', async () => {
  const { publishBirth, describe, unit } = await startTwo();
  await publishBirth('K');
  await describe('Cel');
  expect(await unit()).toBe('Cel');
  await publishBirth('K');
  expect(await unit()).toBe('K');
});

test('Device description: unit set over HTTP after a birth at another process: the unit set over HTTP is stored', async () => {
  const { publishBirth, describe, submit, unit } = await startTwo();
  await publishBirth('K');
  // The second process reads the device into its memory.
  await submit();
  await publishBirth('Cel');
  expect(await unit()).toBe('Cel');
  expect(await describe('K')).toEqual({ accepted: 1, refused: [] });
  expect(await unit()).toBe('K');
});

test('Device description: another process registered a sensor after the device was cached: its description is accepted', async () => {
  const { publishBirth, describeSensor, submit } = await startTwo();
  await publishBirth('K');
  // The second process reads the device into its memory.
  await submit();
  await publishBirth('K', 'new');
  expect(await describeSensor('new', 'Cel')).toEqual({ accepted: 1, refused: [] });
  await expect(describeSensor('none', 'Cel')).rejects.toMatchObject({ code: 'not_found' });
});

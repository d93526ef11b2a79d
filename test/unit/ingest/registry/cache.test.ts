import { expect, test } from '@jest/globals';
import { blankDevice, blankSensor, DeviceCache, MAX_ENTRIES } from '../../../../api/ingest/registry/cache.ts';
import {
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../../schema/ids.ts';

function deviceOf(name: string, sensors: number) {
  const { id, bytes } = identifyDevice(name) as Identity;
  const device = blankDevice({ id, bytes, group: 0, name, retiredAt: null });
  for (let index = 0; index < sensors; index++) {
    const sensor = identifySensor(id, `s${index}`) as SensorIdentity;
    device.sensors.set(sensor.id, blankSensor({ ...sensor, deviceName: name, site: null }));
  }
  return device;
}

test('Device cache: a cached device gets more sensors: the cache is full, and removes the device', () => {
  const cache = new DeviceCache({ store: {} as never, groups: 1 });
  const first = deviceOf('first', 0);
  cache.keep(first);
  const many = new Map(Array.from({ length: MAX_ENTRIES - 10 }, (_, index) => [String(index), {} as never]));
  first.sensors = many;
  cache.keep(first);
  expect(cache.peek(first.id)).toBe(first);
  cache.keep(deviceOf('second', 20));
  expect(cache.peek(first.id)).toBeUndefined();
});

test.each(['forget', 'keep'])(
  'Device cache: %s() is called while the device is read from the database: the read row is not cached',
  async (change) => {
    const kept = deviceOf('pump', 0);
    let answer = (_row: unknown) => {};
    const row = new Promise((resolve) => {
      answer = resolve;
    });
    const store = { device: () => row, sensors: async () => [] } as never;
    const cache = new DeviceCache({ store, groups: 1 });
    const read = cache.find(kept);
    if (change === 'keep') cache.keep(kept);
    else cache.forget(kept.id);
    answer({ ...kept, retiredAt: 1 });
    await read;
    expect(cache.peek(kept.id)).toBe(change === 'keep' ? kept : undefined);
  },
);

/** A cache whose reads wait until the test answers them. `answers`: in the order of the reads. */
function startReads() {
  const answers: Array<(row: object) => void> = [];
  const device = () => new Promise((resolve) => void answers.push(resolve));
  const store = { device, sensors: async () => [] } as never;
  return { cache: new DeviceCache({ store, groups: 1 }), answers };
}

test('Device cache: forget() during the read of a device: the next call reads the device again, and caches that row', async () => {
  const { cache, answers } = startReads();
  const pump = deviceOf('pump', 0);
  const reads = [cache.find(pump)];
  cache.forget(pump.id);
  reads.push(cache.find(pump), cache.find(pump));
  expect(answers).toHaveLength(2);
  answers[0]?.({ ...pump, label: 'older' });
  await reads[0];
  expect(cache.peek(pump.id)).toBeUndefined();
  answers[1]?.({ ...pump, label: 'newer' });
  const [, second, third] = await Promise.all(reads);
  expect([second?.label, third?.label, cache.peek(pump.id)?.label]).toEqual(['newer', 'newer', 'newer']);
});

import { expect, test } from '@jest/globals';
import { groupOf } from '../../schema/ids.ts';
import { closingOf } from '../../schema/rules.ts';
import { GROUPS, usePackedSystem } from '../support/system/packed.ts';

const packed = usePackedSystem();

const names = (sensors: number, first: number = 0) =>
  Array.from({ length: sensors }, (_, index) => `s${first + index}`);

/** Sends one sample of each sensor, in one message. @param ts epoch ms */
async function send(device: string, sensors: string[], ts: number) {
  const samples = sensors.map((sensor, i) => ({ sensor_id: sensor, ts, value: i + ts / 1e6 }));
  const response = await packed.system().post(`/measurements?device=${device}`, samples);
  expect(response.status).toBe(200);
}

async function rowsByPart(device: string): Promise<Map<number, number>> {
  const { rows } = await packed.database().execute('SELECT device_id, part, samples FROM message');
  const id = packed.keyOf(device).device;
  const counts: Map<number, number> = new Map();
  for (const row of rows) {
    if (!row['device_id'].getBuffer().equals(id) || row['samples'] === null) continue;
    counts.set(row['part'], (counts.get(row['part']) ?? 0) + 1);
  }
  return counts;
}

/** @returns the timestamps of each sensor, in seconds of the hour */
const secondsOf = (device: string, sensors: string[], hour: number): Promise<Array<number[]>> =>
  Promise.all(
    sensors.map(async (sensor) =>
      (await packed.read(device, hour, sensor)).map(({ ts }) => (ts - hour) / 1000),
    ),
  );

test('Database rows of a device hour: up to 64 sensors: one partition; more: up to three', async () => {
  const hour = packed.newHour();
  await send('narrow', names(64), hour);
  expect(await rowsByPart('narrow')).toEqual(new Map([[0, 1]]));
  await send('wide', names(65), hour);
  expect([...(await rowsByPart('wide')).keys()].sort()).toEqual([1, 2]);
});

test('Database rows of a device hour: device grows beyond 64 and 128 sensors: every sample is readable before and after packing', async () => {
  const hour = packed.newHour();
  const all = names(130);
  await send('growing', all.slice(0, 60), hour);
  await send('growing', all.slice(0, 100), hour + 1000);
  await send('growing', all, hour + 2000);
  expect([...(await rowsByPart('growing')).keys()].sort()).toEqual([0, 1, 2, 3, 4]);
  const selected = ['s0', 's1', 's59', 's60', 's99', 's100', 's129'];
  const expected = [[0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 2], [1, 2], [2], [2]];
  expect(await secondsOf('growing', selected, hour)).toEqual(expected);

  packed.clock.now = closingOf(hour);
  const packer = packed.packer();
  await packer.packDue();
  expect(packer.counts).toMatchObject({ unreadable: 0, refused: 0 });
  for (const [index, sensor] of selected.entries()) {
    const row = await packed.statisticsOf('growing', hour, sensor);
    expect(row).toMatchObject({ statistics: { count: expected[index]?.length }, readFrom: packed.clock.now });
  }
  expect(await secondsOf('growing', selected, hour)).toEqual(expected);
});

test('Device with 8,500 sensors: one message with an instant for each: acknowledged and stored; another device of its group is acknowledged within 2 s meanwhile', async () => {
  const hour = packed.newHour();
  const sensors = names(8500);
  await send('widest', sensors, hour);
  const groupOfDevice = (device: string) => groupOf(packed.keyOf(device).device, GROUPS);
  const other = names(100).find((name) => groupOfDevice(name) === groupOfDevice('widest')) ?? '';
  await send(other, ['s'], hour);

  const samples = sensors.map((sensor, index) => ({ sensor_id: sensor, ts: hour + 1 + index, value: index }));
  let isWritten = false;
  const written = packed
    .system()
    .post('/measurements?device=widest', samples)
    .then((response) => {
      isWritten = true;
      return response.status;
    });
  let slowest = 0;
  for (let second = 1; !isWritten; second++) {
    const began = performance.now();
    await send(other, ['s'], hour + 1000 * second);
    slowest = Math.max(slowest, performance.now() - began);
  }
  expect(await written).toBe(200);
  expect(slowest).toBeLessThan(2000);
  const values = await packed
    .store()
    .devices.sensors({ group: groupOfDevice('widest'), bytes: packed.keyOf('widest').device });
  expect(values.every(({ name, ts, value }) => name === `s${value}` && ts === hour + 1 + Number(value))).toBe(
    true,
  );
});

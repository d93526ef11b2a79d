import { expect, test } from '@jest/globals';
import { closingOf, HOUR_MS } from '../../schema/rules.js';
import { usePackedSystem } from '../support/packed-system.js';

const packed = usePackedSystem();

/** @param {number} sensors @param {number} first */
const names = (sensors, first = 0) => Array.from({ length: sensors }, (_, at) => `s${first + at}`);

/**
 * One sample of each sensor, in one message.
 *
 * @param {string} device
 * @param {string[]} sensors
 * @param {number} ts epoch ms
 */
async function send(device, sensors, ts) {
  const body = JSON.stringify(sensors.map((sensor, at) => ({ sensor_id: sensor, ts, value: at + ts / 1e6 })));
  const headers = { 'Content-Type': 'application/json' };
  const response = await packed
    .system()
    .fetch(`/measurements?device=${device}`, { method: 'POST', body, headers });
  expect(response.status).toBe(200);
}

/** @param {string} device @returns {Promise<Map<number, number>>} rows of each part, of all hours */
async function rowsByPart(device) {
  const { rows } = await packed.database().execute('SELECT device_id, part, samples FROM message');
  const id = packed.keyOf(device).device;
  /** @type {Map<number, number>} */
  const parts = new Map();
  for (const row of rows) {
    if (!row['device_id'].getBuffer().equals(id) || row['samples'] === null) continue;
    parts.set(row['part'], (parts.get(row['part']) ?? 0) + 1);
  }
  return parts;
}

/** @param {string} device @param {string[]} sensors @param {number} hour @returns {Promise<Array<number[]>>} the instants of each sensor, in seconds of the hour */
const instantsOf = (device, sensors, hour) =>
  Promise.all(
    sensors.map(async (sensor) =>
      (await packed.read(device, hour, sensor)).map(({ ts }) => (ts - hour) / 1000),
    ),
  );

test('Hour of a device: 64 sensors are in part 0, 65 are spread over two parts', async () => {
  const hour = packed.newHour();
  await send('narrow', names(64), hour);
  expect(await rowsByPart('narrow')).toEqual(new Map([[0, 1]]));
  await send('wide', names(65), hour);
  expect([...(await rowsByPart('wide')).keys()].sort()).toEqual([1, 2]);
});

test('Hour of a device: it grows over 64 and 128 sensors: every sample is read, then packed', async () => {
  const hour = packed.newHour();
  const all = names(130);
  await send('growing', all.slice(0, 60), hour);
  await send('growing', all.slice(0, 100), hour + 1000);
  await send('growing', all, hour + 2000);
  expect([...(await rowsByPart('growing')).keys()].sort()).toEqual([0, 1, 2, 3, 4]);
  const some = ['s0', 's1', 's59', 's60', 's99', 's100', 's129'];
  const expected = [[0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 2], [1, 2], [2], [2]];
  expect(await instantsOf('growing', some, hour)).toEqual(expected);

  packed.clock.now = closingOf(hour);
  const packer = packed.packer();
  await packer.packDue();
  expect(packer.counts).toMatchObject({ unreadable: 0, refused: 0 });
  for (const [at, sensor] of some.entries()) {
    const row = await packed.statisticsOf('growing', hour, sensor);
    expect(row).toMatchObject({ statistics: { count: expected[at]?.length }, readFrom: packed.clock.now });
  }
  expect(await instantsOf('growing', some, hour)).toEqual(expected);
});

test('Hour of a wide device: packed part by part, each sensor once', async () => {
  const hour = packed.newHour();
  const sensors = names(200);
  // The first message registers the sensors, and is written for as many parts as they need then.
  await send('steady', sensors, hour);
  await send('steady', sensors, hour + 1000);
  packed.clock.now = closingOf(hour);
  const packer = packed.packer();
  await packer.packDue();
  expect(packer.counts.hours).toBe(200);
  expect(packer.counts.samples).toBe(400);
});

test('Samples since an instant: rows that end before it are skipped, rows that reach into it are read', async () => {
  const hour = packed.newHour();
  const at = (/** @type {number} */ second) => ({ ts: hour + 1000 * second, value: second });
  // Messages that overlap, the longest first: its newest sample is after the beginning of the range.
  await packed.send('since', [at(0), at(50), at(100)]);
  await packed.send('since', [at(10), at(20)]);
  await packed.send('since', [at(60), at(70)]);
  const read = async (/** @type {number} */ from, /** @type {string} */ order) =>
    (
      await packed
        .system()
        .all(
          `/devices/since/sensors/s/measurements?from=${hour + 1000 * from}&to=${hour + HOUR_MS}&order=${order}&limit=1000`,
        )
    ).map(({ value }) => value);
  expect(await read(0, 'asc')).toEqual([0, 10, 20, 50, 60, 70, 100]);
  expect(await read(20, 'asc')).toEqual([20, 50, 60, 70, 100]);
  expect(await read(21, 'desc')).toEqual([100, 70, 60, 50]);
  expect(await read(71, 'asc')).toEqual([100]);
  expect(await read(101, 'asc')).toEqual([]);
});

test('Samples since an instant of a wide device: found although part 0 has no rows', async () => {
  const hour = packed.newHour();
  await send('wide-since', names(70), hour);
  await send('wide-since', names(70), hour + 60_000);
  const items = await packed
    .system()
    .all(`/devices/wide-since/sensors/s3/measurements?from=${hour + 30_000}&to=${hour + HOUR_MS}&limit=1000`);
  expect(items.map(({ ts }) => Date.parse(ts))).toEqual([hour + 60_000]);
});

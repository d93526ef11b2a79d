import { expect, test } from '@jest/globals';
import type { Store } from '../../api/store/index.ts';
import { MillraceError } from '../../common/errors.ts';
import { packBlock } from '../../schema/packed/block.ts';
import { closingOf, dayOf, HOUR_MS, settlingOf } from '../../schema/rules.ts';
import { GROUPS, samplesOf, usePackedSystem } from '../support/system/packed.ts';

const packed = usePackedSystem();
const { clock, send, read, historyOf, statisticsOf, packedUntil } = packed;

const allUntil = (until: number) => Array(GROUPS).fill(until);

test('Hourly packing of samples: an hour closes: its samples are packed then, and not a millisecond before', async () => {
  const hour = packed.newHour();
  const samples = samplesOf(hour, 100);
  await send('early', samples.slice(0, 60));
  await send('early', samples.slice(40));
  clock.now = hour + 2 * HOUR_MS - 1;
  await packed.packer().packDue();
  expect(await statisticsOf('early', hour)).toBeNull();
  expect(await packedUntil()).toEqual(allUntil(hour));

  clock.now = hour + 2 * HOUR_MS;
  const packer = packed.packer();
  await packer.packDue();
  expect(await packedUntil()).toEqual(allUntil(hour + HOUR_MS));
  expect(await historyOf('early', hour)).toEqual(samples);
  expect(await statisticsOf('early', hour)).toEqual({
    hour,
    statistics: { count: 100, min: -3.5, max: 95.5, sum: 4600, first: -3.5, last: 95.5 },
    readFrom: clock.now,
    lateAt: null,
  });
  expect(packer.counts).toEqual({ hours: 1, samples: 100, groupHours: GROUPS, unreadable: 0, refused: 0 });
  expect(packer.behind.overdueMs()).toBe(0);
  await packer.packDue();
  expect(packer.counts.groupHours).toBe(GROUPS);
});

test('Hourly packing of samples: device with 150 sensors: every sensor is packed', async () => {
  const hour = packed.newHour();
  const sensors = Array.from({ length: 150 }, (_, index) => `s${index}`);
  const body = sensors.flatMap((sensor_id) => samplesOf(hour, 3).map((sample) => ({ sensor_id, ...sample })));
  for (const minute of [0, 10]) {
    const moved = body.map((sample) => ({ ...sample, ts: sample.ts + minute * 60_000 }));
    const response = await packed.system().post('/measurements?device=wide', moved);
    expect(response.status).toBe(200);
  }
  clock.now = closingOf(hour);
  const packer = packed.packer();
  await packer.packDue();
  expect(packer.counts).toMatchObject({ hours: 150, samples: 900 });
  for (const sensor of ['s0', 's77', 's149']) {
    const expected = [0, 10].flatMap((minute) =>
      samplesOf(hour, 3).map(({ ts, value }) => ({ ts: ts + minute * 60_000, value })),
    );
    expect(await historyOf('wide', hour, sensor)).toEqual(expected);
  }
});

test('Hourly packing of samples: killed after any of its writes: samples stay readable, and the next run completes the hour', async () => {
  const hour = packed.newHour();
  const samples = samplesOf(hour, 50);
  for (const sensor of ['a', 'b']) await send('killed', samples, sensor);
  await packed.packBefore(hour);
  clock.now = closingOf(hour);
  for (const write of ['writeSamples', 'writeStatistics', 'writePacked', 'none']) {
    const packing = packed.packer({ store: failAfter(packed.store(), write) }).packDue();
    await (write === 'none' ? packing : expect(packing).rejects.toThrow('killed'));
    for (const sensor of ['a', 'b']) {
      expect(await read('killed', hour, sensor)).toEqual(samples);
      const row = await statisticsOf('killed', hour, sensor);
      if (row?.statistics) expect(await historyOf('killed', hour, sensor)).toEqual(samples);
    }
    clock.now += 1000;
  }
  expect(await packedUntil()).toEqual(allUntil(hour + HOUR_MS));
  // The later packers had nothing to add, so there is still one row.
  expect(await packed.store().packed.readHour(packed.keyOf('killed', 'a'), hour)).toHaveLength(1);
});

test('Hourly packing of samples: a row is unreadable: other devices are packed, and a newer version packs the row later', async () => {
  const hour = packed.newHour();
  const samples = samplesOf(hour, 10);
  await send('broken', samples);
  const { device, sensor } = packed.keyOf('broken');
  const writeRow = (blob: Buffer) =>
    packed
      .database()
      .execute(
        'INSERT INTO message (device_id, bucket, part, ts, digest, samples) VALUES (?, ?, 0, ?, ?, ?)',
        [device, new Date(hour), new Date(hour), Buffer.from('00'), blob],
        { prepare: true },
      );
  await writeRow(Buffer.from([255, 1, 2]));
  clock.now = closingOf(hour);
  const packer = packed.packer();
  await packer.packDue();
  expect(packer.counts).toMatchObject({ hours: 0, unreadable: 1 });
  expect(await packedUntil()).toEqual(allUntil(hour + HOUR_MS));
  // The readable samples are in history, so they stay when the batches expire.
  expect(await historyOf('broken', hour)).toEqual(samples);
  expect(await statisticsOf('broken', hour)).toMatchObject({ statistics: null, lateAt: clock.now });

  // A process of a newer version can read the row.
  const other = { ts: hour + 500, value: 7 };
  const all = [...samples, other].sort((a, b) => a.ts - b.ts);
  await writeRow(packBlock(hour, [{ sensor, times: [other.ts], values: [other.value], from: 0, to: 1 }]));
  expect(await read('broken', hour)).toEqual(all);
  clock.now = settlingOf(dayOf(hour));
  await packed.packer().packDue();
  expect(await historyOf('broken', hour)).toEqual(all);
  expect(await statisticsOf('broken', hour)).toMatchObject({
    statistics: { count: 11 },
    readFrom: clock.now,
  });
  expect(await read('broken', hour)).toEqual(all);
});

test('Hourly packing of samples: the database rejects a write: the device group waits, and a later run packs the hour', async () => {
  const hour = packed.newHour();
  const samples = samplesOf(hour, 10);
  await send('refused', samples);
  await packed.packBefore(hour);
  clock.now = closingOf(hour);
  const store = packed.store();
  const refusing = {
    ...store.packing,
    writeStatistics: () => Promise.reject(new MillraceError('rejected', 'a failure of the test')),
  };
  const packer = packed.packer({ store: { ...store, packing: refusing } });
  await expect(packer.packDue()).rejects.toMatchObject({ code: 'rejected' });
  expect(packer.counts).toMatchObject({ hours: 0, refused: 1 });
  expect((await packedUntil()).sort()).toEqual([hour, hour + HOUR_MS]);
  expect(await read('refused', hour)).toEqual(samples);
  await packed.packer().packDue();
  expect(await packedUntil()).toEqual(allUntil(hour + HOUR_MS));
  expect(await read('refused', hour)).toEqual(samples);
});

/**
 * Wraps a store so that all requests fail from a certain write on. That write is stored, but its answer is an error.
 */
function failAfter(store: Store, write: string) {
  let isDead = false;
  const wrap = <T extends object>(part: T): T =>
    Object.fromEntries(
      Object.entries(part).map(([name, member]) => [
        name,
        async (...args: unknown[]) => {
          if (isDead) throw new Error('killed');
          const answer = await member(...args);
          isDead ||= name === write;
          if (isDead) throw new Error('killed');
          return answer;
        },
      ]),
    ) as T;
  return { packing: wrap(store.packing), packProgress: wrap(store.packProgress) };
}

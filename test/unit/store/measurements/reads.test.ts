import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createSampleReads } from '../../../../api/store/measurements/reads.ts';
import type { Session } from '../../../../api/store/sending/session.ts';
import { packBlock } from '../../../../schema/packed/block.ts';

const HOUR = 500_000 * 3_600_000;
const DEVICE = Buffer.alloc(16, 1);
const sensorOf = (number: number) => Buffer.alloc(16, number);

function createStore() {
  const rows: Array<{ ts: number; parts: null; samples: Buffer }> = [];
  const starts: number[] = [];
  const session = {
    async all({ name }: { name: string }, [, , , since]: unknown[]) {
      const from = since === undefined ? HOUR : Number((since as Buffer).readBigInt64BE());
      if (name !== 'read_parts') starts.push(from - HOUR);
      const found = rows.filter(({ ts }) => ts >= from);
      for (let count = 0; count < 3; count++) await turn();
      return found;
    },
  } as unknown as Session;
  return {
    reads: createSampleReads(session),
    starts,
    /** Stores a message. @param ms time within the hour @param sensors each sensor measures its own number */
    store(ms: number, sensors: number[]) {
      const pieces = sensors.map((number) => ({
        sensor: sensorOf(number),
        times: [HOUR + ms],
        values: [number],
        from: 0,
        to: 1,
      }));
      rows.push({ ts: HOUR + ms, parts: null, samples: packBlock(HOUR, pieces) });
    },
  };
}

test('Reads of an hour: 50 sensors of a device at once: they share one read, and each gets its own samples', async () => {
  const { reads, starts, store } = createStore();
  const sensors = Array.from({ length: 50 }, (_, index) => index + 1);
  store(1000, sensors);
  store(2000, sensors.slice(10));
  const series = await Promise.all(sensors.map((sensor) => reads.readHour(DEVICE, sensorOf(sensor), HOUR)));
  for (const [index, { times, values }] of series.entries()) {
    const count = index < 10 ? 1 : 2;
    expect([...times]).toEqual([HOUR + 1000, HOUR + 2000].slice(0, count));
    expect([...values]).toEqual(Array(count).fill(index + 1));
  }
  expect(starts).toEqual([0]);
  expect((await reads.readHour(DEVICE, sensorOf(99), HOUR)).times).toHaveLength(0);
});

test('Reads of an hour: samples are stored while a read is running: a later read of another sensor has them', async () => {
  const { reads, store } = createStore();
  store(1000, [1]);
  const earlier = reads.readHour(DEVICE, sensorOf(1), HOUR);
  await turn();
  store(2000, [1, 2]);
  const later = [1, 2].map((sensor) => reads.readHour(DEVICE, sensorOf(sensor), HOUR));
  expect((await earlier).times).toHaveLength(1);
  expect((await Promise.all(later)).map(({ times }) => times.length)).toEqual([2, 1]);
});

test('Reads of an hour: since times within the same 10 s: share one read, without a missing row', async () => {
  const { reads, starts, store } = createStore();
  for (const ms of [5000, 19_999, 20_000, 25_000]) store(ms, [1]);
  const [first, second, third] = await Promise.all(
    [20_001, 29_999, 30_000].map((since) => reads.readHour(DEVICE, sensorOf(1), HOUR, HOUR + since)),
  );
  expect(starts).toEqual([20_000, 30_000]);
  expect([first, second, third].map((series) => series?.times.length)).toEqual([2, 2, 0]);
});

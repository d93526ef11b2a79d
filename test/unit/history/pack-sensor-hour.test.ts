import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createSensorPacker } from '../../../api/history/packing/pack-sensor-hour.ts';
import type { Store } from '../../../api/store/index.ts';
import { packBlock } from '../../../schema/packed/block.ts';
import { HOUR_MS, isExact } from '../../../schema/rules.ts';
import { HOUR, samplesOf, useMemoryPath } from '../../support/history/memory-path.ts';

const CLOSING = HOUR + 2 * HOUR_MS;
const SETTLING = Date.UTC(2026, 4, 7, 1);

const path = useMemoryPath();

/** @param parts in place of the store's own */
const storeWith = (parts: Partial<Store['packing']>) => ({
  packing: { ...path.store.packing, ...parts },
  packProgress: path.store.packProgress,
});

async function writeRow(samples: Buffer) {
  const { device } = path.keyOf('device');
  await path.database.execute(
    'INSERT INTO message (device_id, bucket, part, ts, digest, samples) VALUES (?, ?, ?, ?, ?, ?)',
    [device, new Date(HOUR), 0, new Date(HOUR), Buffer.from('00'), samples],
  );
}

test('Packing an hour of a sensor again: no new samples: only the statistics are rewritten, with the newer read time', async () => {
  await path.send('device', samplesOf(HOUR, 5));
  path.clock.now = CLOSING;
  let writes = 0;
  const { packing, packProgress } = path.store;
  const counted = storeWith({
    writeSamples(...args) {
      writes++;
      return packing.writeSamples(...args);
    },
  });
  const stopped = { ...packProgress, writePacked: () => Promise.reject(new Error('killed')) };
  await expect(path.packer({ store: { ...counted, packProgress: stopped } }).packDue()).rejects.toThrow(
    'killed',
  );
  path.clock.now += 1000;
  await path.packer({ store: counted }).packDue();
  expect(writes).toBe(1);
  expect(await path.statisticsOf('device', HOUR)).toMatchObject({
    statistics: { count: 5 },
    readFrom: CLOSING + 1000,
  });
});

test('Packing an hour of a sensor: the write of its samples is answered late: the statistics are written afterwards', async () => {
  await path.send('device', samplesOf(HOUR, 5));
  path.clock.now = CLOSING;
  const { packing } = path.store;
  const calls: string[] = [];
  const slow = storeWith({
    async writeSamples(...args) {
      for (let turn = 0; turn < 100; turn++) await nextTurn();
      await packing.writeSamples(...args);
      calls.push('samples');
    },
    writeStatistics(...args) {
      calls.push('statistics');
      return packing.writeStatistics(...args);
    },
  });
  await path.packer({ store: slow }).packDue();
  expect(calls).toEqual(['samples', 'statistics']);
});

test('Packing an hour of a sensor: a row is unreadable: statistics stay empty, and the packer retries a day later', async () => {
  await path.send('device', samplesOf(HOUR, 5));
  await writeRow(Buffer.from([255, 1, 2]));
  path.clock.now = CLOSING;
  const packer = path.packer();
  await packer.packDue();
  expect(packer.counts).toMatchObject({ hours: 0, unreadable: 1, groupHours: 2 });
  expect(await path.historyOf('device', HOUR)).toEqual(samplesOf(HOUR, 5));
  expect(await path.statisticsOf('device', HOUR)).toMatchObject({ statistics: null, lateAt: CLOSING });

  // A process of a newer version can read the row.
  const other = { ts: HOUR + 7000, value: 7 };
  const { sensor } = path.keyOf('device');
  await writeRow(packBlock(HOUR, [{ sensor, times: [other.ts], values: [other.value], from: 0, to: 1 }]));
  expect(await path.read('device', HOUR)).toEqual([...samplesOf(HOUR, 5), other]);
  path.clock.now = SETTLING;
  await path.packer().packDue();
  const row = await path.statisticsOf('device', HOUR);
  expect(row).toMatchObject({ statistics: { count: 6 }, readFrom: SETTLING });
  expect(row && isExact(row)).toBe(true);
});

test('Packing an hour of a sensor: two messages have the same time: counted once, with the greater value', async () => {
  await path.send('device', samplesOf(HOUR, 5));
  await path.send('device', [
    { ts: HOUR + 4000, value: 9 },
    { ts: HOUR + 5000, value: 1 },
  ]);
  path.clock.now = CLOSING;
  await path.packer().packDue();
  expect(await path.statisticsOf('device', HOUR)).toMatchObject({
    statistics: { count: 6, max: 9, first: -3.5, last: 1 },
  });
});

/** The calls of a sensor packer whose hour has these rows in history. @param history null: a row that cannot be read */
function createPackerOn(history: Array<{ times: number[]; values: number[] } | null>) {
  const calls: Array<[name: string, ...details: unknown[]]> = [];
  const note =
    (name: string) =>
    async (...details: unknown[]) => {
      calls.push([name, ...details.slice(1)]);
    };
  const packer = createSensorPacker({
    store: {
      historyHour: async () => history,
      writeSamples: note('samples'),
      writeLate: note('late'),
      writeStatistics: note('statistics'),
    } as never,
    steps: { run: (step: () => unknown) => step() } as never,
    observer: {
      onPacked: (samples) => void calls.push(['packed', samples]),
      onUnreadable: (_hour, rows) => void calls.push(['unreadable', rows]),
      onRefused: () => void calls.push(['refused']),
    },
  });
  const id = Buffer.alloc(16);
  return {
    calls,
    /** @param unreadable rows of batches */
    pack: (batches: { times: number[]; values: number[] }, unreadable: number = 0) =>
      packer.pack({ device: id, sensor: id, hour: HOUR }, batches, CLOSING, unreadable),
  };
}

test('Packing an hour of a sensor: a history row is unreadable: the row is counted, and the hour is marked late first', async () => {
  const { pack, calls } = createPackerOn([null, { times: [HOUR], values: [1] }]);
  await pack({ times: [HOUR + 1], values: [2] });
  expect(calls.map(([name]) => name)).toEqual(['unreadable', 'late', 'samples', 'statistics', 'packed']);
  expect(calls[0]).toEqual(['unreadable', 1]);
  expect(calls[1]).toEqual(['late', [HOUR], CLOSING]);
  expect(calls.at(-1)).toEqual(['packed', 2]);
});

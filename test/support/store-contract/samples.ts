import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Store, stampOf } from '../../../api/store/index.ts';
import { uuidBytes } from '../../../schema/ids.ts';
import { packSamples } from '../../../schema/packed/pack.ts';
import type { Numbers } from '../../../schema/packed/series.ts';
import { DAY_MS, HOUR_MS, LATE_MARGIN_MS, SENSORS_PER_PART } from '../../../schema/rules.ts';
import type { ContractSubject } from './cells.ts';

const DAY = Date.UTC(2026, 4, 1);
const HOUR = DAY + 5 * HOUR_MS;

const newId = () => uuidBytes(randomUUID());

/** Sorts rows by their samples: one series for each row. */
const sorted = (rows: Array<{ times: Numbers; values: Numbers } | null>) =>
  rows
    .map((row) => row && { times: [...row.times], values: [...row.values] })
    .sort(
      (a, b) =>
        Number(a?.times[0]) - Number(b?.times[0]) || Number(a?.times.length) - Number(b?.times.length),
    );

/** Tests writing and reading samples, by `write`, `samples`, `history` and `packed`. */
export function describeSamples(subject: () => ContractSubject) {
  let store: Store;
  beforeAll(() => {
    store = subject().store;
  });

  async function commit(device: Buffer, sensor: Buffer, times: number[], values: number[]) {
    await store.write.samples({ bytes: device, sensors: { size: 1 } }, [{ sensor, times, values }]);
  }

  async function blocksOf(device: Buffer): Promise<Buffer[]> {
    const blocks = [];
    let after: string | undefined;
    do {
      const page = await store.packing.blockPage(device, HOUR, 0, after);
      blocks.push(...page.blocks);
      after = page.next;
    } while (after);
    return blocks;
  }

  describe('measurements', () => {
    test('Store: message with samples of two hours: each hour is read with its own samples', async () => {
      const [device, sensor] = [newId(), newId()];
      await commit(device, sensor, [HOUR - 1, HOUR, HOUR + 5], [1, 2, 3]);
      expect(sorted([await store.samples.readHour(device, sensor, HOUR - HOUR_MS)])).toEqual([
        { times: [HOUR - 1], values: [1] },
      ]);
      expect(sorted([await store.samples.readHour(device, sensor, HOUR)])).toEqual([
        { times: [HOUR, HOUR + 5], values: [2, 3] },
      ]);
      expect((await store.samples.readHour(device, sensor, HOUR + HOUR_MS)).times).toHaveLength(0);
    });

    test('Store: one message is committed twice: one row is stored', async () => {
      const [device, sensor] = [newId(), newId()];
      for (let times = 0; times < 2; times++) await commit(device, sensor, [HOUR, HOUR + 5], [1, 2]);
      expect(await blocksOf(device)).toHaveLength(1);
    });

    test('Store: different messages with a sample of the same instant: each row is stored, and the greater value is read', async () => {
      const [device, sensor] = [newId(), newId()];
      await commit(device, sensor, [HOUR, HOUR + 5], [1, 2]);
      await commit(device, sensor, [HOUR], [4]);
      await commit(device, sensor, [HOUR], [3]);
      expect(await blocksOf(device)).toHaveLength(3);
      expect(sorted([await store.samples.readHour(device, sensor, HOUR)])).toEqual([
        { times: [HOUR, HOUR + 5], values: [4, 2] },
      ]);
    });

    test('Store: hour with more rows than a page: all pages together have each row once, the newest first', async () => {
      const [device, sensor] = [newId(), newId()];
      const count = 520;
      for (let n = 0; n < count; n++) await commit(device, sensor, [HOUR + n], [n]);
      const first = await store.packing.blockPage(device, HOUR, 0);
      expect(first.blocks.length).toBeLessThan(count);
      expect(first.next).toBeDefined();
      const values = (await blocksOf(device)).map((blob) => blob.readDoubleLE(blob.length - 8));
      expect(values).toEqual(Array.from({ length: count }, (_, n) => count - 1 - n));
    });

    test('Store: a row has invalid bytes: reading its hour throws RangeError', async () => {
      const [device, sensor] = [newId(), newId()];
      await commit(device, sensor, [HOUR], [1]);
      await subject().database.execute(
        'INSERT INTO message (device_id, bucket, part, ts, digest, samples) VALUES (?, ?, ?, ?, ?, ?)',
        [device, new Date(HOUR), 0, new Date(HOUR), Buffer.from('00'), Buffer.from([255, 1])],
        { prepare: true },
      );
      expect(await blocksOf(device)).toHaveLength(2);
      await expect(store.samples.readHour(device, sensor, HOUR)).rejects.toThrow(RangeError);
    });

    test('Store: samples are read since an instant: rows whose newest sample is older are not returned', async () => {
      const [device, sensor] = [newId(), newId()];
      // A read begins at a whole multiple of 10 s.
      const store10s = (...numbers: number[]) =>
        commit(
          device,
          sensor,
          numbers.map((number) => HOUR + number * 10_000),
          numbers,
        );
      await store10s(1, 50);
      await store10s(2, 20);
      await store10s(30);
      const read = async (number: number) => [
        ...(await store.samples.readHour(device, sensor, HOUR, HOUR + number * 10_000)).values,
      ];
      expect(await read(0)).toEqual([1, 2, 20, 30, 50]);
      expect(await read(20)).toEqual([1, 2, 20, 30, 50]);
      expect(await read(21)).toEqual([1, 30, 50]);
      expect(await read(51)).toEqual([]);
    });

    test('Store: rows of an hour are in several partitions: the samples of all partitions are read', async () => {
      const [device, sensor] = [newId(), newId()];
      for (const [index, parts] of [1, 4, 2, 4].entries()) {
        const series = { sensor, times: [HOUR + index * 10_000], values: [index] };
        const sensors = { size: parts * SENSORS_PER_PART };
        await store.write.samples({ bytes: device, sensors }, [series]);
      }
      const { parts } = await store.packing.blockPage(device, HOUR, 0);
      expect([...parts].sort()).toEqual([2, 4]);
      expect([...(await store.samples.readHour(device, sensor, HOUR)).values]).toEqual([0, 1, 2, 3]);
      // The numbers of parts are known, although no row of part 0 is new enough.
      expect([...(await store.samples.readHour(device, sensor, HOUR, HOUR + 10_000)).values]).toEqual([
        1, 2, 3,
      ]);
    });
  });

  describe('latest', () => {
    test('Store: latest values are written in any order: the newest instant wins; at the same instant the greater bytes win', async () => {
      const device = newId();
      const [a, b] = [newId(), newId()];
      const group = 3;
      for (const [sensor, ts, value] of [
        [a, 20, 1],
        [a, 10, 5],
        [b, 10, 2],
        [b, 10, -1],
        [b, 10, 1],
      ] as Array<[Buffer, number, number]>) {
        const unknown = { bytes: sensor, ts: null, value: null };
        await store.write.latest({ bytes: device, group, retiredAt: null }, [{ sensor: unknown, ts, value }]);
      }
      const registeredAt = 1;
      const changes = [a, b].map((bytes) => ({ bytes, registeredAt, writeTimestamp: stampOf(1) }));
      const { sensors } = store.write.registry.sensorWrites({ group, bytes: device }, changes, registeredAt);
      for (const write of sensors) await store.write.registry.commit(write);
      const rows = await store.devices.sensors({ group, bytes: device });
      const found = new Map(rows.map(({ id, ts, value }) => [uuidBytes(id).toString('hex'), [ts, value]]));
      expect(found).toEqual(
        new Map([
          [a.toString('hex'), [20, 1]],
          [b.toString('hex'), [10, -1]],
        ]),
      );
    });
  });

  describe('history', () => {
    const statistics = { count: 3, min: -1, max: 2, sum: 1.5, first: 2, last: -1 };

    test('Store: packed samples of two hours of a day are written twice: each row is read once, under its hour', async () => {
      const key = { device: newId(), sensor: newId() };
      const rows = [HOUR, HOUR, DAY + 23 * HOUR_MS].map((hour, index) => ({
        hour,
        samples: packSamples(hour, [hour + index, hour + index + 5], [index, index + 1], 0, 2),
      }));
      for (let times = 0; times < 2; times++) await store.write.history.writeSamples(key, rows);
      const read = await store.packed.readSamples(key, DAY, DAY + DAY_MS);
      expect([...read].map(([hour, series]) => [hour, series.length])).toEqual([
        [HOUR, 2],
        [DAY + 23 * HOUR_MS, 1],
      ]);
      expect(sorted(await store.packed.readHour(key, HOUR))).toEqual([
        { times: [HOUR, HOUR + 5], values: [0, 1] },
        { times: [HOUR + 1, HOUR + 6], values: [1, 2] },
      ]);
      expect(await store.packing.historyHour(key, HOUR)).toHaveLength(2);
      expect(await store.packed.readSamples(key, DAY, HOUR)).toEqual(new Map());
    });

    test('Store: statistics of an hour are written twice: the statistics of the later reading stay, also if written first', async () => {
      const key = { device: newId(), sensor: newId() };
      await store.write.history.writeStatistics(key, HOUR, { ...statistics, count: 9 }, HOUR + 7000);
      await store.write.history.writeStatistics(key, HOUR, statistics, HOUR + 5000);
      expect(await store.packed.readStatistics(key, DAY, DAY + DAY_MS)).toEqual([
        { hour: HOUR, statistics: { ...statistics, count: 9 }, readFrom: HOUR + 7000, lateAt: null },
      ]);
    });

    test('Store: hour is marked as changed by late samples: the newest mark is read, together with the statistics', async () => {
      const key = { device: newId(), sensor: newId() };
      const other = HOUR + HOUR_MS;
      await store.write.history.writeLate(key, [HOUR, other], HOUR + 9000);
      await store.write.history.writeLate(key, [HOUR], HOUR + 8000);
      await store.write.history.writeStatistics(key, HOUR, statistics, HOUR + 5000);
      expect(await store.packed.readStatistics(key, HOUR, other + HOUR_MS)).toEqual([
        { hour: HOUR, statistics, readFrom: HOUR + 5000, lateAt: HOUR + 9000 },
        { hour: other, statistics: null, readFrom: null, lateAt: HOUR + 9000 },
      ]);
      expect(await store.packed.readStatistics(key, HOUR, other)).toHaveLength(1);
      const nextYear = Date.UTC(2027, 0);
      expect(await store.packed.readStatistics(key, nextYear, nextYear + DAY_MS)).toEqual([]);
    });

    test('Store: statistics of a day are copied into one row: the copy is read until late samples change the day', async () => {
      const key = { device: newId(), sensor: newId() };
      const [first, last] = [DAY, DAY + 23 * HOUR_MS];
      const week = () => store.packed.readStatistics(key, DAY - 3 * DAY_MS, DAY + 3 * DAY_MS);
      const copied = [first, last].map((hour) => ({ hour, statistics, readFrom: hour + DAY_MS }));
      await store.write.history.writeDay(key, DAY, copied, DAY + 2 * DAY_MS);
      await store.write.history.writeDay(key, DAY, [], DAY + DAY_MS);
      // The row is not in the copy, so it shows which table was read.
      const row = { ...statistics, count: 77 };
      await store.write.history.writeStatistics(key, last, row, last + DAY_MS);
      await store.write.history.writeStatistics(key, DAY + 2 * DAY_MS, row, DAY + 3 * DAY_MS);
      const copies = copied.map((hour) => ({ ...hour, lateAt: null }));
      const next = { hour: DAY + 2 * DAY_MS, statistics: row, readFrom: DAY + 3 * DAY_MS, lateAt: null };
      expect(await week()).toEqual([...copies, next]);

      const early = last + DAY_MS - 2 * LATE_MARGIN_MS;
      await store.write.history.writeLate(key, [last], early);
      expect((await week())[1]).toEqual({ ...copied[1], lateAt: early });
      const late = last + DAY_MS;
      await store.write.history.writeLate(key, [last], late);
      await store.write.history.writeLate(key, [last], early);
      expect(await week()).toEqual([
        { hour: last, statistics: row, readFrom: last + DAY_MS, lateAt: late },
        next,
      ]);
    });

    test('Store: late samples in an hour that the copy of the day lacks: the hourly rows are read instead of the copy', async () => {
      const key = { device: newId(), sensor: newId() };
      await store.write.history.writeDay(key, DAY, [{ hour: DAY, statistics, readFrom: HOUR }], HOUR);
      await store.write.history.writeLate(key, [DAY + 5 * HOUR_MS], HOUR - DAY_MS);
      const read = await store.packed.readStatistics(key, DAY - 3 * DAY_MS, DAY + DAY_MS);
      expect(read.map(({ hour }) => hour)).toEqual([DAY + 5 * HOUR_MS]);
    });

    test('Store: time range begins and ends within copied days: only the hours of the range are read', async () => {
      const key = { device: newId(), sensor: newId() };
      for (let day = DAY - 2 * DAY_MS; day <= DAY + 2 * DAY_MS; day += DAY_MS) {
        const hours = Array.from({ length: 24 }, (_, index) => {
          const hour = day + index * HOUR_MS;
          return { hour, statistics, readFrom: hour + DAY_MS };
        });
        await store.write.history.writeDay(key, day, hours, day + 2 * DAY_MS);
      }
      const [from, to] = [DAY - 2 * DAY_MS + 5 * HOUR_MS, DAY + 2 * DAY_MS + 7 * HOUR_MS];
      const read = await store.packed.readStatistics(key, from, to);
      expect(read.map(({ hour }) => hour)).toEqual(
        Array.from({ length: (to - from) / HOUR_MS }, (_, index) => from + index * HOUR_MS),
      );
    });
  });
}

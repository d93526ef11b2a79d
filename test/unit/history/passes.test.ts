import { expect, test } from '@jest/globals';
import type { SensorPacker } from '../../../api/history/packing/pack-sensor-hour.ts';
import { createFirstPass, createSecondPass } from '../../../api/history/packing/passes.ts';
import type { HourRow } from '../../../api/store/history/reads.ts';
import { packBlock } from '../../../schema/packed/block.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAY = Date.UTC(2026, 4, 5);
const HOUR = DAY + 12 * HOUR_MS;
const GROUP = 3;
const BROKEN = Buffer.from([255, 1, 2]);

/** @returns the id of a device or of a sensor */
const idOf = (name: number): Buffer => Buffer.alloc(16, name);

/** @param hour epoch ms @returns a row of `message` with one sample */
const block = (sensor: number, value: number, hour: number = HOUR): Buffer =>
  packBlock(hour, [{ sensor: idOf(sensor), times: [hour], values: [value], from: 0, to: 1 }]);

/** A row of `history_stat`. @param hour epoch ms */
const rowOf = (hour: number, isExact: boolean = true): HourRow => ({
  hour,
  statistics: { count: 1, min: 1, max: 1, sum: 1, first: 1, last: 1 },
  readFrom: hour + 2 * HOUR_MS,
  lateAt: isExact ? null : hour + 3 * HOUR_MS,
});

/** Creates both passes over a group of devices, and records what they pack. */
function createPasses({
  devices = [9],
  sensors = [],
  blocks = () => [],
  rows = () => [],
  lateDays = [],
  now,
}: {
  /** (default: one, 9) */
  devices?: number[];
  /** of every device */
  sensors?: number[];
  /** rows of `message` */
  blocks?: (hour: number) => Buffer[];
  /** of `history_stat` */
  rows?: (sensor: number) => HourRow[];
  lateDays?: Array<{ device: Buffer; day: number }>;
  /** epoch ms */
  now?: number;
}) {
  const clock = { now: now ?? HOUR + 2 * HOUR_MS };
  const running = { reads: 0, mostReads: 0, packs: 0, mostPacks: 0 };
  const packs: unknown[] = [];
  const days: unknown[] = [];
  const asked: unknown[] = [];
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const deps = {
    store: {
      async devicePage(group: number, after: string | undefined) {
        expect(group).toBe(GROUP);
        const half = Math.ceil(devices.length / 2);
        const items = (after ? devices.slice(half) : devices.slice(0, half)).map(idOf);
        return { items, next: after ? undefined : 'rest' };
      },
      async lateDayPage(group: number, noticed: number) {
        asked.push({ group, noticed });
        return { items: lateDays, next: undefined };
      },
      async sensorIds() {
        return sensors.map(idOf);
      },
      async blockPage(_device: Buffer, hour: number) {
        running.mostReads = Math.max(running.mostReads, ++running.reads);
        // Several turns, so that all reads that may run at once begin.
        for (let count = 0; count < 3; count++) await turn();
        running.reads--;
        clock.now += 7;
        return { blocks: blocks(hour), parts: [], next: undefined };
      },
      async readStatistics({ sensor }: never, from: number, to: number) {
        clock.now += 3;
        return rows(sensor[0]).filter(({ hour }) => hour >= from && hour < to);
      },
      async writeDay({ device, sensor }: never, day: number, hours: never[], readAt: number) {
        await turn();
        days.push({ device: device[0], sensor: sensor[0], day, hours, readAt, packed: packs.length });
      },
    } as never,
    clock: { now: async () => clock.now },
    steps: { run: (step: () => unknown) => step() } as never,
    observer: { onUnreadable() {} } as never,
    sensors: {
      async pack(
        { device, sensor, hour }: Parameters<SensorPacker['pack']>[0],
        { values }: Parameters<SensorPacker['pack']>[1],
        readFrom: Parameters<SensorPacker['pack']>[2],
        unreadable: Parameters<SensorPacker['pack']>[3],
      ) {
        running.mostPacks = Math.max(running.mostPacks, ++running.packs);
        for (let count = 0; count < 3; count++) await turn();
        running.packs--;
        packs.push({ device: device[0], sensor: sensor[0], hour, values: [...values], readFrom, unreadable });
        return true;
      },
    },
    listeners: [],
  };
  return { first: createFirstPass(deps), second: createSecondPass(deps), packs, days, asked, running, clock };
}

const pack = { device: 9, hour: HOUR, readFrom: HOUR + 2 * HOUR_MS, unreadable: 0 };

test('First packing of an hour: a device group: each sensor with samples is packed, with the time before the read', async () => {
  const { first, packs } = createPasses({
    devices: [9, 8],
    sensors: [1, 2, 3],
    blocks: () => [block(1, 5), block(2, 6)],
  });
  await first.packHour(GROUP, HOUR);
  expect(packs).toHaveLength(4);
  for (const device of [9, 8])
    for (const [sensor, value] of [
      [1, 5],
      [2, 6],
    ])
      expect(packs).toContainEqual({ ...pack, device, sensor, values: [value] });
});

test('First packing of an hour: four devices are read at once, and two sensors of a device are packed at once', async () => {
  const many = createPasses({ devices: Array.from({ length: 20 }, (_, index) => index + 1) });
  await many.first.packHour(GROUP, HOUR);
  expect(many.running.mostReads).toBe(4);
  const wide = createPasses({ blocks: () => [1, 2, 3, 4, 5, 6].map((sensor) => block(sensor, sensor)) });
  await wide.first.packHour(GROUP, HOUR);
  expect(wide.running.mostPacks).toBe(2);
  expect(wide.packs).toHaveLength(6);
});

test('First packing of an hour: three days ago or more: sensors without rows are packed too, because rows expire', async () => {
  const group = { sensors: [1, 2], blocks: () => [block(1, 5)] };
  const young = createPasses({ ...group, now: HOUR + 3 * DAY_MS - 1 });
  await young.first.packHour(GROUP, HOUR);
  expect(young.packs).toEqual([{ ...pack, sensor: 1, values: [5], readFrom: HOUR + 3 * DAY_MS - 1 }]);
  const old = createPasses({ ...group, now: HOUR + 3 * DAY_MS });
  await old.first.packHour(GROUP, HOUR);
  expect(old.packs).toEqual([
    { ...pack, sensor: 1, values: [5], readFrom: HOUR + 3 * DAY_MS },
    { ...pack, sensor: 2, values: [], readFrom: HOUR + 3 * DAY_MS },
  ]);
});

test('Second packing of a day: all statistics of the day are exact: one row with all hours of the day is written', async () => {
  const rows = [rowOf(DAY), rowOf(HOUR)];
  const { second, packs, days } = createPasses({
    sensors: [1],
    rows: () => [rowOf(DAY - HOUR_MS), ...rows, rowOf(DAY + DAY_MS)],
    now: DAY + 3 * DAY_MS,
  });
  await second.settleDay(GROUP, DAY);
  expect(packs).toEqual([]);
  const hours = rows.map(({ hour, statistics, readFrom }) => ({ hour, statistics, readFrom }));
  expect(days).toEqual([{ device: 9, sensor: 1, day: DAY, hours, readAt: DAY + 3 * DAY_MS, packed: 0 }]);
});

test('Second packing of a day: two hours have late samples: each hour is read once, and only late sensors are packed', async () => {
  const late = new Set(['1 late', '2 late', '1 other']);
  const other = HOUR + HOUR_MS;
  const passes = createPasses({
    sensors: [1, 2, 3],
    blocks: (hour) => (hour === HOUR ? [block(1, 5), block(3, 7)] : [block(1, 8, other)]),
    rows: (sensor) => [
      rowOf(HOUR, passes.packs.length > 0 || !late.has(`${sensor} late`)),
      rowOf(other, passes.packs.length > 0 || !late.has(`${sensor} other`)),
    ],
    now: DAY + 3 * DAY_MS,
  });
  const { second, packs, days } = passes;
  await second.settleDay(GROUP, DAY);
  // Checking three sensors takes 3 ms each. Reading an hour takes 7 ms.
  const begun = DAY + 3 * DAY_MS + 9;
  expect(packs).toEqual([
    { ...pack, sensor: 1, values: [5], readFrom: begun },
    { ...pack, sensor: 2, values: [], readFrom: begun },
    { ...pack, sensor: 1, hour: other, values: [8], readFrom: begun + 7 },
  ]);
  expect(days).toEqual([
    expect.objectContaining({ sensor: 3, packed: 0 }),
    expect.objectContaining({ sensor: 1, packed: 3 }),
    expect.objectContaining({ sensor: 2, packed: 3 }),
  ]);
});

test('Second packing of a day: a row is unreadable: sensors with late samples are packed with one unreadable row', async () => {
  const { second, packs } = createPasses({
    sensors: [1, 2],
    blocks: () => [block(1, 5), BROKEN],
    rows: () => [rowOf(HOUR, false)],
  });
  await second.settleDay(GROUP, DAY);
  expect(packs).toEqual([
    expect.objectContaining({ sensor: 1, values: [5], unreadable: 1 }),
    expect.objectContaining({ sensor: 2, values: [], unreadable: 1 }),
  ]);
});

test('Second packing of a day: a device has a late-day note: that day of that device is packed again', async () => {
  const device = idOf(5);
  const { second, packs, asked } = createPasses({
    sensors: [1],
    lateDays: [{ device, day: DAY }],
    blocks: () => [block(1, 5)],
    rows: () => [rowOf(HOUR, false)],
  });
  await second.settleNoticed(GROUP, HOUR + 5 * HOUR_MS);
  expect(asked).toEqual([{ group: GROUP, noticed: HOUR + 5 * HOUR_MS }]);
  expect(packs).toEqual([expect.objectContaining({ device: 5, sensor: 1, hour: HOUR, values: [5] })]);
});

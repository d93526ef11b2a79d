import { expect, test } from '@jest/globals';
import type { OnPacked, PackedHour } from '../../../api/history/packing/index.ts';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import { GROUPS, HOUR, samplesOf, useMemoryPath } from '../../support/history/memory-path.ts';

const MINUTE_MS = 60_000;
const CLOSING = HOUR + 2 * HOUR_MS;
/** A day after the last hour of the UTC day has closed. */
const SETTLING = Date.UTC(2026, 4, 7, 1);

const path = useMemoryPath();

const progressOf = (group: number) => path.store.packProgress.read(group);

test('History packer: an hour ended one hour ago: its samples and statistics are written; 1 ms earlier they are not', async () => {
  const samples = samplesOf(HOUR, 20);
  await path.send('device', samples);
  path.clock.now = CLOSING - 1;
  await path.packer().packDue();
  expect(await path.statisticsOf('device', HOUR)).toBeNull();
  path.clock.now = CLOSING;
  const packer = path.packer();
  await packer.packDue();
  expect(packer.counts).toEqual({ hours: 1, samples: 20, groupHours: GROUPS, unreadable: 0, refused: 0 });
  expect(await path.statisticsOf('device', HOUR)).toEqual({
    hour: HOUR,
    statistics: { count: 20, min: -3.5, max: 15.5, sum: 120, first: -3.5, last: 15.5 },
    readFrom: CLOSING,
    lateAt: null,
  });
  expect(await path.historyOf('device', HOUR)).toEqual(samples);
});

test('History packer: samples arrive while their hour is read: the statistics have the time before the read, and are not exact', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  path.clock.now = CLOSING;
  const { packing, packProgress } = path.store;
  const slow = {
    ...packing,
    async blockPage(...args: Parameters<typeof packing.blockPage>) {
      const page = await packing.blockPage(...args);
      if (page.blocks.length === 0) return page;
      path.clock.now += MINUTE_MS;
      await path.send('device', samplesOf(HOUR, 5, 20));
      path.clock.now += 20 * MINUTE_MS;
      return page;
    },
    // The late rows are not in history yet.
    historyHour: async () => [],
  };
  await path.packer({ store: { packing: slow, packProgress } }).packDue();
  expect(await path.statisticsOf('device', HOUR)).toMatchObject({
    statistics: { count: 20 },
    readFrom: CLOSING,
    lateAt: CLOSING + MINUTE_MS,
  });
  expect(await path.countOf('device', HOUR)).toEqual({ count: 25, source: 'samples' });
});

test('History packer: the second pass reads an hour for 20 minutes: the statistics have the time before the read', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  path.clock.now = CLOSING;
  await path.packer().packDue();
  path.clock.now = CLOSING + MINUTE_MS;
  await path.send('device', samplesOf(HOUR, 5, 20));
  path.clock.now = SETTLING;
  const { packing, packProgress } = path.store;
  const slow = {
    ...packing,
    async blockPage(...args: Parameters<typeof packing.blockPage>) {
      const page = await packing.blockPage(...args);
      if (args[1] === HOUR) path.clock.now += 20 * MINUTE_MS;
      return page;
    },
  };
  await path.packer({ store: { packing: slow, packProgress } }).packDue();
  expect(await path.statisticsOf('device', HOUR)).toMatchObject({
    statistics: { count: 25 },
    readFrom: SETTLING,
  });
});

test('History packer: samples arrive late: the second pass packs them one day later, not 1 ms earlier', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  path.clock.now = CLOSING;
  await path.packer().packDue();
  path.clock.now = CLOSING + MINUTE_MS;
  await path.send('device', samplesOf(HOUR, 5, 20));
  path.clock.now = SETTLING - 1;
  await path.packer().packDue();
  expect(await path.statisticsOf('device', HOUR)).toMatchObject({ statistics: { count: 20 } });
  expect(await path.countOf('device', HOUR)).toEqual({ count: 25, source: 'samples' });
  path.clock.now = SETTLING;
  const packer = path.packer();
  await packer.packDue();
  expect(packer.counts).toMatchObject({ hours: 1, samples: 25 });
  expect(await path.countOf('device', HOUR)).toEqual({ count: 25, source: 'statistics' });
});

test('History packer: the machine sleeps for days: the second pass packs only hours that the first pass has packed', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  const awake = CLOSING + 3 * HOUR_MS;
  const { packing, packProgress } = path.store;
  /** Readings of the clock before the process sleeps: one more after the last hour, to find that none is due. */
  let readings = Number.POSITIVE_INFINITY;
  const clock = () => {
    path.clock.now = readings-- > 0 ? awake : awake + 3 * DAY_MS;
    return path.clock.now;
  };
  const settled: Array<{ packedUntil: number; until: number }> = [];
  const watched = {
    ...packProgress,
    async writeSettled(...[group, until]: Parameters<typeof packProgress.writeSettled>) {
      settled.push({ packedUntil: (await progressOf(group)).packedUntil, until });
      return packProgress.writeSettled(group, until);
    },
    async writePacked(...[group, until]: Parameters<typeof packProgress.writePacked>) {
      await packProgress.writePacked(group, until);
      if (until === HOUR + 4 * HOUR_MS) readings = 1;
    },
  };
  await path.packer({ store: { packing, packProgress: watched }, groups: 1, clock }).packDue();
  expect(settled.length).toBeGreaterThan(0);
  expect(settled.filter(({ packedUntil, until }) => until > packedUntil)).toEqual([]);
});

test('History packer: process dies before writing statistics, and message rows expire: statistics are made from history', async () => {
  const samples = samplesOf(HOUR, 20);
  await path.send('device', samples);
  path.clock.now = CLOSING;
  const { packing, packProgress } = path.store;
  const dying = { ...packing, writeStatistics: () => Promise.reject(new Error('killed')) };
  await expect(path.packer({ store: { packing: dying, packProgress } }).packDue()).rejects.toThrow('killed');
  path.clock.now = HOUR + 9 * DAY_MS;
  await path.packer().packDue();
  expect(await path.countOf('device', HOUR)).toEqual({ count: 20, source: 'statistics' });
  expect(await path.read('device', HOUR)).toEqual(samples);
});

test('History packer: a feature listens: it gets the sensors whose statistics are written, before progress moves', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  await path.send('device', samplesOf(HOUR, 20), { sensor: 'other' });
  await path.send('silent', samplesOf(HOUR + HOUR_MS, 20));
  path.clock.now = CLOSING;
  const { group, device } = path.keyOf('device');
  const reported: PackedHour[] = [];
  const listener: OnPacked = async (hours) => {
    expect((await path.statisticsOf('device', HOUR))?.readFrom).toBe(CLOSING);
    expect((await progressOf(group)).packedUntil).toBeLessThanOrEqual(HOUR);
    reported.push(...hours);
  };
  await path.packer({ listeners: [listener] }).packDue();
  const sensors = ['s', 'other'].map((name) => path.keyOf('device', name).sensor.toString('hex')).sort();
  expect(
    reported.map((hour) => ({ ...hour, sensors: hour.sensors.map((id) => id.toString('hex')).sort() })),
  ).toEqual([{ group, device, hour: HOUR, sensors }]);
});

test('History packer: a listener fails: progress stays, and the hour is packed and reported again', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  path.clock.now = CLOSING;
  const { group } = path.keyOf('device');
  const failing: OnPacked = () => Promise.reject(new Error('no notice'));
  await expect(path.packer({ listeners: [failing] }).packDue()).rejects.toThrow('no notice');
  expect((await progressOf(group)).packedUntil).toBeLessThanOrEqual(HOUR);
  let reports = 0;
  const listener: OnPacked = async () => void reports++;
  await path.packer({ listeners: [listener] }).packDue();
  expect(reports).toBe(1);
  expect((await progressOf(group)).packedUntil).toBe(HOUR + HOUR_MS);
});

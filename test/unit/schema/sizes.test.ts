import { expect, test } from '@jest/globals';
import { SCHEMA, SETTINGS } from '../../../common/settings/index.ts';
import { encodeHour } from '../../../schema/packed/hour/encode-hour.ts';
import { DAY_MS, HOUR_MS, PARTITION_AIM, yearOf } from '../../../schema/rules.ts';
import {
  bytesText,
  calendarYearsOf,
  countText,
  groupsFor,
  historyRowBytes,
  MOST_GROUPS,
  PACKED_BYTES,
  packersFor,
  partitionsOf,
  ratesOf,
  tablesOf,
} from '../../../schema/sizes.ts';
import { createRandom } from '../../../simulator/random.ts';

const fleet = (sensors: number, intervalMs: number) => ({
  sensors,
  sensorsPerDevice: 10,
  intervalMs,
  batchMs: 60_000,
  batchDays: 30,
  historyDays: 365,
});

const thousand = fleet(1000, 1000);

test('Storage sizes: 1,000 sensors at 1 Hz: 1,000 samples and 1.67 messages each second', () => {
  const { samples, messages, packedHours } = ratesOf(thousand);
  expect(samples).toBe(1000);
  expect(messages).toBeCloseTo(100 / 60);
  expect(packedHours).toBeCloseTo(1000 / 3600, 6);
});

test('Storage sizes: 1,000 sensors at 1 Hz: a message row per device and minute, a history row per sensor and hour', () => {
  const { message, history, history_stat, sensor, latest, device } = tablesOf(thousand);
  expect(message).toEqual({
    rows: 100 * 30 * 24 * 60,
    bytes: 100 * 30 * 24 * 60 * (36 + 1 + 10 * (18 + 8 * 60) + 4 * 60),
    partitions: 100 * 30 * 24,
  });
  expect([history.rows, history.partitions]).toEqual([1000 * 365 * 24, 1000 * 365]);
  expect([history_stat.rows, history_stat.partitions]).toEqual([history.rows, 2 * 1000]);
  expect([sensor.rows, latest.rows, latest.partitions, device.rows]).toEqual([1000, 100, 16, 100]);
});

test.each([1e3, 1e6, 1e9])('Storage sizes: %p sensors: no partition exceeds the target size', (sensors) => {
  for (const intervalMs of [1000, 60_000]) {
    for (const { rows, bytes } of Object.values(partitionsOf(fleet(sensors, intervalMs)))) {
      expect(rows).toBeLessThanOrEqual(PARTITION_AIM.rows);
      expect(bytes).toBeLessThanOrEqual(PARTITION_AIM.bytes);
    }
  }
});

test.each([4, 364, 365, 366, 730, 1461, 3650, 7300])(
  'Storage sizes: a retention of %p days: reaches into as many calendar years as calculated',
  (days) => {
    const years = Array.from({ length: 5 * 366 * 2 }, (_, at) => {
      const until = Date.UTC(2026, 0, 1) + at * 43_200_000;
      return yearOf(until) - yearOf(until - days * DAY_MS) + 1;
    });
    expect(calendarYearsOf(days)).toBe(Math.max(...years));
  },
);

test('Storage sizes: LATEST_GROUPS: the default for 1,000 sensors, and the allowed maximum for a trillion sensors', () => {
  expect(groupsFor(1000)).toBe(Number(SETTINGS['LATEST_GROUPS']?.fallback));
  expect(groupsFor(1e12)).toBe(MOST_GROUPS);
  expect(SCHEMA.shape.LATEST_GROUPS.safeParse(String(MOST_GROUPS)).success).toBe(true);
  expect(SCHEMA.shape.LATEST_GROUPS.safeParse(String(MOST_GROUPS + 1)).success).toBe(false);
});

test.each([
  [1000, 3600],
  [60_000, 60],
])('Storage sizes: sample every %p ms: PACKED_BYTES is the packed size, rounded up', (intervalMs, count) => {
  const random = createRandom(1);
  let value = 2100;
  const times = Array.from({ length: count }, (_, at) => at * intervalMs + Math.floor(random.between(0, 41)));
  const values = times.map(() => {
    value += Math.round(random.between(-10, 10));
    return value / 100;
  });
  const bytes =
    encodeHour(
      10 * HOUR_MS,
      times.map((ms) => 10 * HOUR_MS + ms),
      values,
      0,
      count,
    ).length / count;
  const figure = PACKED_BYTES.find(({ atLeastAnHour }) => count >= atLeastAnHour)?.bytes ?? 0;
  expect(bytes).toBeLessThanOrEqual(figure);
  expect(bytes).toBeGreaterThan(figure * 0.8);
});

test('Storage sizes: counts and bytes as text: large figures are rounded to two digits', () => {
  expect([0, 12, 1440, 36_000, 1e6, 2.59e9].map(countText)).toEqual([
    '0',
    '12',
    '1,440',
    '36 thousand',
    '1 million',
    '2.6 billion',
  ]);
  expect([12, 49_260, 35.4e12].map(bytesText)).toEqual(['12 B', '49 kB', '35 TB']);
});

test.each([
  [1000, 3600 * 1.3 + 35],
  [1000.2, 3599.28 * 2.3 + 35],
  [60_000, 60 * 2.3 + 35],
  [60_900, 59.113 * 13 + 35],
  [3_600_000, 13 + 35],
  [7_200_000, 13 + 35],
])('Storage sizes: a sample every %p ms: an hour of history takes %p bytes', (intervalMs, bytes) => {
  expect(historyRowBytes(intervalMs)).toBeCloseTo(bytes, 1);
});

test.each([
  [10_000, 1, 16],
  [10_001, 2, 16],
  [160_000, 16, 16],
  [160_001, 17, 32],
  [1_000_000, 100, 128],
])('Storage sizes: %i sensors: %i packing processes and LATEST_GROUPS=%i', (sensors, packers, groups) => {
  expect([packersFor(sensors), groupsFor(sensors)]).toEqual([packers, groups]);
});

test('Storage sizes: a million sensors: three index tables, each with a row per sensor and 128 partitions', () => {
  expect(tablesOf(fleet(1e6, 1000)).indexes).toEqual({ rows: 3e6, bytes: 3e6 * 47, partitions: 3 * 128 });
});

test('Storage sizes: 63 sensors of a group on devices with ten each: seven rows of latest values', () => {
  // 1,000 sensors in 16 groups: 63 a group, of devices with 10 each.
  expect(partitionsOf(fleet(1000, 1000)).latest).toEqual({ rows: 7, bytes: 7 * 10 + 63 * 60 });
});

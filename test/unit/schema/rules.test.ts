import { describe, expect, test } from '@jest/globals';
import {
  BATCH_LIMITS,
  bucketOf,
  LATE_MARGIN_MS,
  MAX_BLOCK_BYTES,
  MAX_SAMPLES_PER_MESSAGE,
  MAX_STATEMENTS_PER_BATCH,
  MOST_CLOCK_DIFFERENCE_MS,
  messageWeight,
  monthOf,
  nextMonthOf,
  PARTITION_AIM,
  PARTITION_WARN,
  partitionPerHour,
} from '../../../schema/rules.ts';

test('Schema rules: margin for late samples: longer than twice the allowed clock difference', () => {
  expect(LATE_MARGIN_MS).toBeGreaterThan(2 * MOST_CLOCK_DIFFERENCE_MS);
});

test.each([
  ['2026-11-21T09:00:00.000Z', '2026-11-21T09:00:00.000Z'],
  ['2026-11-21T09:59:59.999Z', '2026-11-21T09:00:00.000Z'],
  ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'],
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:00:00.000Z'],
  ['1969-12-31T23:00:00.000Z', '1969-12-31T23:00:00.000Z'],
])('Hour bucket: time %s: belongs to the hour that begins at %s', (time, hour) => {
  expect(new Date(bucketOf(Date.parse(time))).toISOString()).toBe(hour);
});

describe('Rules: an hour of a device', () => {
  const hour = (sensors: number, intervalMs: number, batchMs: number) =>
    partitionPerHour({ sensors, intervalMs, batchMs });

  /** A row: 36 bytes, a version byte, 18 bytes and 8 a sample for each sensor, 4 a sample for the times. */
  const row = (sensors: number, samples: number) => 36 + 1 + sensors * (18 + 8 * samples) + 4 * samples;

  test.each([
    [
      '4 sensors at 1 Hz, a message every 10 s',
      hour(4, 1000, 10_000),
      { rows: 360, bytes: 360 * row(4, 10) },
    ],
    ['1 sensor at 1 Hz, a message a minute', hour(1, 1000, 60_000), { rows: 60, bytes: 60 * row(1, 60) }],
    ['1 sensor at 1 Hz, a message a second', hour(1, 1000, 1000), { rows: 3600, bytes: 3600 * row(1, 1) }],
    ['50 sensors, each once in 10 s', hour(50, 10_000, 10_000), { rows: 360, bytes: 360 * row(50, 1) }],
    ['50 sensors, a message each second', hour(50, 1000, 1000), { rows: 3600, bytes: 3600 * row(50, 1) }],
    ['1 sensor at 100 Hz, a message a second', hour(1, 10, 1000), { rows: 3600, bytes: 3600 * row(1, 100) }],
    [
      '1 sensor at 100 Hz, a message a minute',
      hour(1, 10, 60_000),
      { rows: 180, bytes: 60 * (3 * 36 + 1 + 18 + 12 * 6000) },
    ],
    [
      '500 sensors in 8 parts, once a minute',
      hour(500, 60_000, 60_000),
      { rows: 60, bytes: 60 * row(63, 1) },
    ],
  ])('Hour partition of a device: %s: within the target size', (_, weight, expected) => {
    expect(weight).toEqual(expected);
    expect(weight.rows).toBeLessThanOrEqual(PARTITION_AIM.rows);
    expect(weight.bytes).toBeLessThanOrEqual(PARTITION_AIM.bytes);
  });

  test('Hour partition of a device: one sensor at 1 kHz: above the target size, but below the warning size', () => {
    const { rows, bytes } = hour(1, 1, 10_000);
    expect(bytes).toBeGreaterThan(PARTITION_AIM.bytes);
    expect(bytes).toBeLessThan(PARTITION_WARN.bytes);
    expect(rows).toBeLessThan(PARTITION_AIM.rows);
  });
});

// Two uuids of clustering key and two cells of 8 bytes, each with flags and a timestamp of its own.
const LATEST_ROW_BYTES = 2 * 17 + 2 * (8 + 8 + 4) + 10;

test('CQL batches: a full group commit of latest values: within the batch limits of Cassandra and ScyllaDB', () => {
  expect(MAX_STATEMENTS_PER_BATCH).toBeLessThanOrEqual(BATCH_LIMITS.statements);
  expect(MAX_STATEMENTS_PER_BATCH * LATEST_ROW_BYTES).toBeLessThan(BATCH_LIMITS.bytes.cassandra);
});

test('CQL batches: the largest packed block: below 1/256 of the mutation size limit', () => {
  expect(MAX_BLOCK_BYTES).toBeLessThan(BATCH_LIMITS.mutationBytes / 256);
});

test('CQL batches: the largest message, with any number of sensors: within the limits of Cassandra and ScyllaDB', () => {
  for (let samples = 1; samples <= MAX_SAMPLES_PER_MESSAGE; samples *= 2) {
    const { rows, bytes } = messageWeight({ sensors: MAX_SAMPLES_PER_MESSAGE / samples, samples });
    expect(rows).toBeLessThanOrEqual(BATCH_LIMITS.statements);
    // The message exceeds Cassandra's limit for batches of several mutations, so it must stay in one partition.
    expect(bytes).toBeLessThan(BATCH_LIMITS.mutationBytes / 16);
  }
});

test.each([
  ['2026-01-01T00:00:00.000Z', '2026-01-01', '2026-02-01'],
  ['2026-02-28T23:59:59.999Z', '2026-02-01', '2026-03-01'],
  ['2028-02-29T12:00:00.000Z', '2028-02-01', '2028-03-01'],
  ['2026-12-31T23:59:59.999Z', '2026-12-01', '2027-01-01'],
  ['1969-12-31T23:59:59.999Z', '1969-12-01', '1970-01-01'],
])('UTC month: time %s: its month begins on %s, the next month on %s', (text, month, next) => {
  expect(monthOf(Date.parse(text))).toBe(Date.parse(month));
  expect(nextMonthOf(Date.parse(text))).toBe(Date.parse(next));
});

test('Schema rules: a message of two sensors needs two rows: each row has one sensor and its times', () => {
  const message = messageWeight({ sensors: 2, samples: 2000 });
  expect(message.rows).toBe(2);
  expect(message.bytes).toBe(2 * messageWeight({ sensors: 1, samples: 2000 }).bytes);
});

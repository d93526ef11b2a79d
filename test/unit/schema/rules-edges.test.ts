import { expect, test } from '@jest/globals';
import * as rules from '../../../schema/rules.ts';

test.each([
  ['MAX_SAMPLES_PER_HISTORY_ROW', rules.MAX_SAMPLES_PER_HISTORY_ROW, 65_536],
  ['MAX_SAMPLES_PER_MESSAGE', rules.MAX_SAMPLES_PER_MESSAGE, 10_000],
  ['MAX_SENSORS_PER_DEVICE', rules.MAX_SENSORS_PER_DEVICE, 10_000],
  ['MAX_STATEMENTS_PER_BATCH', rules.MAX_STATEMENTS_PER_BATCH, 256],
  ['MAX_REQUEST_BYTES', rules.MAX_REQUEST_BYTES, 262_144],
  ['MAX_ENTRIES_PER_GROUP_COMMIT', rules.MAX_ENTRIES_PER_GROUP_COMMIT, 2000],
  ['MAX_ENTRIES_PER_MESSAGE', rules.MAX_ENTRIES_PER_MESSAGE, 1000],
  ['PARTITION_WARN', rules.PARTITION_WARN, { bytes: 100e6, rows: 100_000 }],
  ['PARTITION_AIM', rules.PARTITION_AIM, { bytes: 10e6, rows: 50_000 }],
  ['DEAD_LETTER_DAYS', rules.DEAD_LETTER_DAYS, 14],
  ['DEAD_LETTER_SHARDS', rules.DEAD_LETTER_SHARDS, 16],
  ['BIRTH_REPEAT_SHARE', rules.BIRTH_REPEAT_SHARE, 0.25],
  ['LATE_DAY_DAYS', rules.LATE_DAY_DAYS, 14],
  ['BASELINE_DAYS', rules.BASELINE_DAYS, 7],
  ['STREAM_NOTE_DAYS', rules.STREAM_NOTE_DAYS, 14],
  ['MIN_BATCH_DAYS', rules.MIN_BATCH_DAYS, 4],
  ['PACK_DELAY_MS', rules.PACK_DELAY_MS, 3_600_000],
  ['LATE_MARGIN_MS', rules.LATE_MARGIN_MS, 300_000],
  ['MOST_CLOCK_DIFFERENCE_MS', rules.MOST_CLOCK_DIFFERENCE_MS, 60_000],
  ['PACKED_BEFORE_START_MS', rules.PACKED_BEFORE_START_MS, 10_800_000],
  ['SAMPLE_ROW_BYTES', rules.SAMPLE_ROW_BYTES, 60],
  ['MESSAGE_ROW_BYTES', rules.MESSAGE_ROW_BYTES, 36],
])('Schema rules: constant %s: has the documented value', (_, actual, value) => {
  expect(actual).toEqual(value);
});

test('Schema rules: batch and mutation limits: equal the documented limits of Cassandra and ScyllaDB', () => {
  expect(rules.BATCH_LIMITS).toEqual({
    statements: 65_535,
    bytes: { cassandra: 51_200, scylla: 1_048_576 },
    mutationBytes: 16_777_216,
  });
});

test('Schema rules: a message of two sensors needs two rows: each row has one sensor and its times', () => {
  const message = rules.messageWeight({ sensors: 2, samples: 2000 });
  expect(message.rows).toBe(2);
  expect(message.bytes).toBe(2 * rules.messageWeight({ sensors: 1, samples: 2000 }).bytes);
});

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodeHour, planHours } from '../../../../api/store/measurements/hours.ts';
import { PendingHour } from '../../../../api/store/measurements/writes.ts';
import { Partition } from '../../../../api/store/sending/pending-rows.ts';
import { mergePieces, packBlock, splitBlocks } from '../../../../schema/packed/block.ts';
import { HOUR_MS, MAX_BLOCK_BYTES } from '../../../../schema/rules.ts';
import { sortedSeries } from '../../schema/packed/arbitraries.ts';

const BUCKET = Date.UTC(2026, 10, 21, 9);
const PARTITION = new Partition(Buffer.alloc(16, 1));

const hourOfSamples = sortedSeries({ min: BUCKET, max: BUCKET + HOUR_MS - 1, minLength: 1 });
/** Some messages have more samples than a block holds. */
const length = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 4000 }));

test('Sample rows of an hour: any message: the row has the merged and sorted samples, split by size', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(hourOfSamples, length), { minLength: 1, maxLength: 8 }), (list) => {
      const message = list.map(([{ times, values }, more], index) => {
        const others = Array.from({ length: more }, (_, at) => BUCKET + at);
        return {
          sensor: Buffer.alloc(16, index),
          times: more > 0 ? others : times,
          values: more > 0 ? others : values,
        };
      });
      const [hour, ...further] = planHours(message, 1);
      expect(further).toEqual([]);
      const rows = hour ? encodeHour(PARTITION, hour) : [];
      const expected = splitBlocks(mergePieces(hour?.pieces ?? [])).map((block) => packBlock(BUCKET, block));
      expect(rows.map(({ params }) => params.at(-1))).toEqual(expected);
    }),
  );
});

test('Sample rows of an hour: a series within one hour is not copied, one across two hours is split', () => {
  const sensor = Buffer.alloc(16, 1);
  const times = [BUCKET, BUCKET + 1];
  const whole = { sensor, times, values: times, from: 0, to: 2 };
  const [hour] = planHours([whole], 1);
  expect(hour?.pieces[0]).toBe(whole);
  const later = [BUCKET, BUCKET + HOUR_MS];
  const hours = planHours([{ ...whole, times: later, values: later }], 1);
  expect(hours.map(({ pieces }) => pieces.map(({ from, to }) => [from, to]))).toEqual([[[0, 1]], [[1, 2]]]);
});

const SENSORS = Array.from({ length: 4 }, (_, index) => Buffer.alloc(16, index));
/** The sensors of a message, nearly always all of them in one order. */
const sensors = fc.oneof(
  { weight: 4, arbitrary: fc.constant(SENSORS) },
  { weight: 1, arbitrary: fc.shuffledSubarray(SENSORS, { minLength: 1 }) },
);
const waiting = fc.record({
  sensors,
  offset: fc.nat(20),
  samples: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.nat(900)),
});

test('Sample rows of an hour: several messages wait: one row with all their samples, within MAX_BLOCK_BYTES', () => {
  fc.assert(
    fc.property(fc.array(waiting, { minLength: 2, maxLength: 12 }), (messages) => {
      const hours = messages.flatMap(({ sensors, offset, samples }, number) => {
        const times = Array.from({ length: samples + 1 }, (_, at) => BUCKET + number * 10 + offset + at);
        const series = sensors.map((sensor) => ({ sensor, times, values: times }));
        return planHours(series, 1);
      });
      const [first, ...others] = hours;
      if (!first) return;
      const deps = { device: { bytes: Buffer.alloc(16), sensors: { size: 4 } }, blocks: null };
      const watch = { note() {} } as never;
      const row = new PendingHour(PARTITION, first, { ...deps, watch });
      const joined = [first, ...others.filter((hour) => row.join(hour))];
      const pieces = mergePieces(joined.flatMap((hour) => hour.pieces));
      const expected = splitBlocks(pieces).map((block) => packBlock(BUCKET, block));
      const expectedBytes = row.bytes;
      expect(row.toQueries().map(({ params }) => params.at(-1))).toEqual(expected);
      if (joined.length > 1) {
        // The write merger limits a request by these bytes. Cassandra 5.0 counts 114 bytes for a row plus its block.
        expect(row.bytes).toBeLessThanOrEqual(expectedBytes);
        expect(row.bytes).toBeGreaterThanOrEqual(114 + Number(expected[0]?.length));
        expect(expected).toHaveLength(1);
        expect(expected[0]?.length).toBeLessThanOrEqual(MAX_BLOCK_BYTES);
      }
    }),
  );
});

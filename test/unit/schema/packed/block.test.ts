import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  mergePieces,
  type Piece,
  packBlock,
  packMessages,
  pieceBytes,
  splitBlocks,
  visitBlock,
} from '../../../../schema/packed/block.ts';
import { HOUR_MS, MAX_BLOCK_BYTES, partsFor } from '../../../../schema/rules.ts';
import { sortedSeries } from './arbitraries.ts';

const BUCKET = Date.UTC(2026, 10, 21, 9);

const sensorId = (number: number) => {
  const id = Buffer.alloc(16, number % 251);
  id.writeUInt32BE(number);
  return id;
};

const pieceOf = (
  number: number,
  times: number[],
  values: number[] = times.map((_, at) => at / 7),
): Piece => ({
  sensor: sensorId(number),
  times,
  values,
  from: 0,
  to: times.length,
});

const seconds = (count: number, first: number = 0): number[] =>
  Array.from({ length: count }, (_, at) => BUCKET + 1000 * (first + at));

function readBlock(blob: Uint8Array): Array<[sensor: string, times: number[], values: number[]]> {
  const read: Array<[string, number[], number[]]> = [];
  visitBlock(BUCKET, blob, (sensor, series) => {
    const { times, values } = series();
    read.push([sensor.toString('hex'), [...times], [...values]]);
  });
  return read;
}

const pieces = fc
  .array(sortedSeries({ min: BUCKET, max: BUCKET + HOUR_MS - 1, minLength: 1, maxLength: 20 }), {
    minLength: 1,
    maxLength: 8,
  })
  .chain((list) =>
    // Each sensor has times of its own, or those of the sensor before it.
    fc.array(fc.boolean(), { minLength: list.length, maxLength: list.length }).map((shares) => {
      let times = list[0]?.times ?? [];
      return list.map((series, at) => {
        if (!shares[at]) times = series.times;
        return pieceOf(
          at,
          [...times],
          times.map((_, index) => series.values[index % series.values.length] ?? 0),
        );
      });
    }),
  );

test('Packed block: random series of several sensors: unpacking returns every sample unchanged, bit by bit', () => {
  fc.assert(
    fc.property(pieces, (list) => {
      const read = readBlock(packBlock(BUCKET, list));
      expect(read).toEqual(
        list.map(({ sensor, times, values }) => [sensor.toString('hex'), [...times], [...values]]),
      );
    }),
  );
});

test.each([
  ['no piece', []],
  ['a piece without samples', [{ ...pieceOf(1, seconds(2)), to: 0 }]],
  ['a sample of the next hour', [pieceOf(1, [BUCKET, BUCKET + HOUR_MS])]],
  ['a sample of the hour before', [pieceOf(1, [BUCKET - 1, BUCKET])]],
])('Packed block: packing %s: a RangeError is thrown', (_, list) => {
  expect(() => packBlock(BUCKET, list)).toThrow(RangeError);
});

/** Times of one sensor in one message, ms after the begin of the message. */
const offsets = fc
  .uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 })
  .map((list) => list.sort((a, b) => a - b));
const message = fc.array(offsets, { minLength: 4, maxLength: 4 });

test('Block of several messages: packMessages(): returns the block of the merged samples, or null', () => {
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 4 }),
      // The messages begin at once, overlap, or follow each other.
      fc.constantFrom(0, 3, 10),
      fc.boolean(),
      (messages, width, everyMs, areTimesShared) => {
        const list = messages.flatMap((columns, number) =>
          columns.slice(0, width).map((own, column) => {
            const times = areTimesShared ? columns[0] : own;
            const begin = BUCKET + number * everyMs;
            const values = own.map((_, at) => number + at / 7);
            return pieceOf(
              column,
              (times ?? []).map((time) => begin + time),
              (times ?? []).map((_, at) => values[at % values.length] ?? 0),
            );
          }),
        );
        // Ingest has one Buffer object for each sensor.
        for (const [at, piece] of list.entries()) piece.sensor = (list[at % width] as Piece).sensor;
        const packed = packMessages(BUCKET, list, width);
        const isUsual = areTimesShared && (everyMs === 10 || messages.length === 1);
        if (isUsual) expect(packed).not.toBeNull();
        if (packed) expect(packed.equals(packBlock(BUCKET, mergePieces(list)))).toBe(true);
      },
    ),
  );
});

test.each([
  ['the second message is older', [[1000], [0]]],
  ['both messages have the same time', [[1000], [1000]]],
])('Block of several messages: %s: packMessages() returns null', (_, messages) => {
  const list = messages.map((times) =>
    pieceOf(
      1,
      times.map((ms) => BUCKET + ms),
    ),
  );
  expect(packMessages(BUCKET, list, 1)).toBeNull();
});

describe('Block reader', () => {
  const whole = packBlock(BUCKET, [pieceOf(1, seconds(3)), pieceOf(2, seconds(3))]);
  const id = '00'.repeat(16);

  test.each([
    ['an empty block', ''],
    ['a block of version 1', '01e20400000000000000803540'],
    ['a block without sensors', '03'],
    ['a header cut short', `03${id}01`],
    ['a first sensor without times', `03${id}0000`],
    ['samples cut short', `03${id}0100e2040000`],
    ['times that do not ascend', `03${id}0200${'e2040000'.repeat(2)}${'00'.repeat(16)}`],
    ['a time beyond the hour', `03${id}010080ee3600${'00'.repeat(8)}`],
  ])('Block reader: %s: a RangeError is thrown', (_, hex) => {
    expect(() => readBlock(Buffer.from(hex, 'hex'))).toThrow(RangeError);
  });

  test('Block reader: a block is cut at any byte: a RangeError, or only the sensors that are complete', () => {
    const full = readBlock(whole);
    for (let length = 0; length < whole.length; length++) {
      let read: ReturnType<typeof readBlock>;
      try {
        read = readBlock(whole.subarray(0, length));
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
        continue;
      }
      expect(read).toEqual(full.slice(0, read.length));
    }
  });

  test('Block reader: random bytes: a RangeError, or no more samples than the bytes can hold', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const blob = Uint8Array.from([3, ...bytes]);
        let samples = 0;
        try {
          for (const [, times] of readBlock(blob)) samples += times.length;
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
        expect(samples * 8).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });
});

const bytesOf = (blocks: Piece[][]) =>
  blocks.map((block) => 1 + block.reduce((sum, piece) => sum + pieceBytes(piece), 0));

test('Split into blocks: random series: no block exceeds the size limit, and the blocks have all samples in order', () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 3600 })), {
    minLength: 1,
    maxLength: 60,
  });
  fc.assert(
    fc.property(sizes, (counts) => {
      const list = counts.map((count, at) => pieceOf(at, seconds(count)));
      const blocks = splitBlocks(list);
      expect(Math.max(...bytesOf(blocks))).toBeLessThanOrEqual(MAX_BLOCK_BYTES);
      expect(blocks.every((block) => block.length > 0)).toBe(true);
      const samples = blocks
        .flat()
        .flatMap(({ sensor, times, from, to }) =>
          [...times.slice(from, to)].map((time) => [sensor.readUInt32BE(), time]),
        );
      const expected = list.flatMap(({ times }, at) => [...times].map((time) => [at, time]));
      // The samples are compared as text, because jest takes a second to compare a hundred thousand pairs.
      expect(samples.join()).toBe(expected.join());
    }),
    { numRuns: 50 },
  );
});

/** Returns the ranges of the pieces of each block, such as `0-2663 0-64 | 64-100`. */
const cuts = (list: Piece[]) =>
  splitBlocks(list)
    .map((block) => block.map(({ from, to }) => `${from}-${to}`).join(' '))
    .join(' | ');

// A block holds 2,729 samples of one sensor. Each further sensor takes 18 bytes, the room of 1.5 samples.
test.each([
  ['a series just fills a block: one block', [2729], '0-2729'],
  ['one sample more than a block holds: two blocks', [2730], '0-2729 | 2729-2730'],
  ['room for 64 samples is left: the next series is cut there', [2663, 100], '0-2663 0-64 | 64-100'],
  ['room for 63 samples is left: the next series is not cut', [2664, 100], '0-2664 | 0-100'],
  ['room for 63 samples is left, and the next series has 63: one block', [2664, 63], '0-2664 0-63'],
  ['room for 63 samples is left, the next series has 64: not cut', [2664, 64], '0-2664 | 0-64'],
  ['the end of a cut series shares a block with the next series', [2739, 5], '0-2729 | 2729-2739 0-5'],
])('Split into blocks: %s', (_, counts, expected) => {
  expect(cuts(counts.map((count, number) => pieceOf(number, seconds(count))))).toBe(expected);
});

test('Split into blocks: all series fit into one block: the given objects are returned without copies', () => {
  const list = [{ ...pieceOf(1, seconds(2500)), from: 2000, to: 2500 }, pieceOf(2, seconds(2227))];
  const [block, ...others] = splitBlocks(list);
  expect(others).toEqual([]);
  expect(block?.every((piece, index) => piece === list[index])).toBe(true);
});

test.each([
  [1, 1],
  [64, 1],
  [65, 2],
  [128, 2],
  [129, 4],
  [10_000, 256],
])('Partitions for an hour of a device: %i sensors: %i partitions', (sensors, parts) => {
  expect(partsFor(sensors)).toBe(parts);
});

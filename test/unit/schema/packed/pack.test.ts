import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { digestOf, packSamples } from '../../../../schema/packed/pack.ts';
import { statisticsOf } from '../../../../schema/packed/statistics.ts';
import { unpackSamples } from '../../../../schema/packed/unpack.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { anyValue, sortedSeries } from './arbitraries.ts';

const BUCKET = Date.UTC(2026, 10, 21, 9);

/** One hour's series: times within the hour of BUCKET. */
const hourSeries = sortedSeries({ min: BUCKET, max: BUCKET + HOUR_MS - 1, minLength: 1 });

test('Packed samples: random samples: packed and unpacked unchanged, bit by bit', () => {
  fc.assert(
    fc.property(hourSeries, ({ times, values }) => {
      const out = unpackSamples(BUCKET, packSamples(BUCKET, times, values, 0, times.length));
      expect([...out.times]).toEqual(times);
      expect([...out.values].every((value, i) => Object.is(value, values[i]))).toBe(true);
    }),
  );
});

test('Packed samples: a blob begins inside a larger buffer, as the Cassandra driver delivers it: the samples are read', () => {
  const blob = packSamples(BUCKET, [BUCKET + 7], [0.1], 0, 1);
  const shifted = Buffer.concat([Buffer.from('abc'), blob]).subarray(3);
  expect(unpackSamples(BUCKET, shifted)).toEqual(unpackSamples(BUCKET, blob));
});

test('Packed samples: digests of two blobs: equal only if the samples are equal', () => {
  fc.assert(
    fc.property(hourSeries, anyValue, ({ times, values }, other) => {
      const blob = packSamples(BUCKET, times, values, 0, times.length);
      const changed = packSamples(BUCKET, times, [other, ...values.slice(1)], 0, times.length);
      expect(digestOf(blob)).toHaveLength(8);
      expect(digestOf(blob).equals(digestOf(changed))).toBe(Object.is(values[0], other));
    }),
  );
});

describe('Packed: invalid input is refused', () => {
  const blob = packSamples(BUCKET, [BUCKET, BUCKET + 1], [1, 2], 0, 2);
  const changed = (change: (bytes: Buffer) => unknown) => {
    const bytes = Buffer.from(blob);
    change(bytes);
    return bytes;
  };

  test.each([
    ['an empty blob', Buffer.alloc(0), /not even a version byte/],
    [
      'an unknown version',
      changed((bytes) => bytes.writeUInt8(3, 0)),
      /version 3; this process knows versions 1, 2, 5 and 6/,
    ],
    ['a version without samples', blob.subarray(0, 1), /of 1 bytes/],
    ['a missing byte', blob.subarray(0, -1), /of 24 bytes/],
    ['a repeated time', changed((bytes) => bytes.writeUInt32LE(0, 5)), /sample 1 is not after/],
    ['times that descend', changed((bytes) => bytes.writeUInt32LE(9, 1)), /sample 1 is not after/],
    [
      'a time beyond the hour',
      changed((bytes) => bytes.writeUInt32LE(HOUR_MS, 5)),
      /3600000 ms after its hour/,
    ],
  ])('Packed samples: reading %s: a RangeError is thrown', (_, bytes, message) => {
    expect(() => unpackSamples(BUCKET, bytes)).toThrow(message);
    expect(() => unpackSamples(BUCKET, bytes)).toThrow(RangeError);
  });

  test.each([
    ['no sample', [], 0, 0],
    ['no sample of several', [BUCKET, BUCKET + 1], 1, 1],
    ['a sample before the hour', [BUCKET - 1, BUCKET], 0, 2],
    ['a sample after the hour', [BUCKET, BUCKET + HOUR_MS], 0, 2],
    ['indexes beyond the series', [BUCKET], 0, 2],
  ])('Packed samples: packing %s: a RangeError is thrown', (_, times, from, to) => {
    expect(() => packSamples(BUCKET, times, [1, 2], from, to)).toThrow(RangeError);
  });
});

test('Packed samples: statistics of a range of indexes: equal those of the values in that range', () => {
  fc.assert(
    fc.property(fc.array(anyValue, { minLength: 1 }), fc.nat(), (values, a) => {
      const from = a % values.length;
      const part = values.slice(from);
      const { count, min, max, sum, last } = statisticsOf(values, from, values.length);
      expect({ count, last }).toEqual({ count: part.length, last: part.at(-1) });
      // The comparison uses === and not Object.is, because the minimum of 0 and -0 may be either.
      expect(min === Math.min(...part) && max === Math.max(...part)).toBe(true);
      expect(sum).toBe(part.reduce((total, value) => total + value, 0));
    }),
  );
});

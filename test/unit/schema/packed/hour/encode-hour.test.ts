import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodeHour } from '../../../../../schema/packed/hour/encode-hour.ts';
import { FORMS } from '../../../../../schema/packed/hour/forms.ts';
import { unpackSamples } from '../../../../../schema/packed/unpack.ts';
import { HOUR_MS, MAX_SAMPLES_PER_HISTORY_ROW } from '../../../../../schema/rules.ts';
import { createRandom } from '../../../../../simulator/random.ts';
import { anyValue, sortedSeries } from '../arbitraries.ts';

const BUCKET = Date.UTC(2026, 10, 21, 9);

const anyTimes = sortedSeries({ min: BUCKET, max: BUCKET + HOUR_MS - 1, minLength: 1, maxLength: 200 }).map(
  ({ times }) => times,
);

/** Typical device clocks: an interval, jitter of less than half the interval, and missed ticks. */
const clockTimes = fc
  .record({
    start: fc.nat({ max: 60_000 }),
    interval: fc.double({ min: 1, max: 60_000, noNaN: true }),
    samples: fc.array(fc.tuple(fc.nat({ max: 99 }), fc.boolean()), { minLength: 1, maxLength: 400 }),
  })
  .map(({ start, interval, samples }) => {
    const offsets = samples.flatMap(([jitter, missed], i) =>
      missed && i % 7 === 0 ? [] : [start + Math.floor(interval * (i + jitter / 200))],
    );
    const within = [...new Set(offsets)].filter((offset) => offset < HOUR_MS);
    return (within.length > 0 ? within : [start]).map((offset) => BUCKET + offset);
  });

/** Series of values of one kind, for any requested length. */
const KINDS: Array<fc.Arbitrary<(count: number) => number[]>> = [
  fc
    .tuple(fc.integer({ min: 0, max: 15 }), fc.array(fc.maxSafeInteger(), { minLength: 1, maxLength: 60 }))
    .map(cycled((whole, digits) => whole / 10 ** digits)),
  fc
    .tuple(fc.nat({ max: 8 }), fc.array(fc.integer({ min: -30_000, max: 30_000 }), { minLength: 1 }))
    .map(cycled((whole, digits) => Math.fround(whole / 10 ** digits))),
  fc.tuple(fc.nat(), fc.array(fc.float(), { minLength: 1, maxLength: 100 })).map(cycled((single) => single)),
  fc.tuple(fc.nat(), fc.array(fc.double(), { minLength: 1, maxLength: 10 })).map(cycled((double) => double)),
  fc
    .tuple(fc.nat(), fc.array(fc.oneof(anyValue, fc.double()), { minLength: 1, maxLength: 400 }))
    .map(cycled((double) => double)),
  fc.tuple(fc.nat({ max: 400 }), fc.array(fc.constant(0), { minLength: 400, maxLength: 400 })).map(
    ([shift, all]) =>
      (count: number) =>
        all.slice(0, count).map((_, i) => Math.sin((i - shift) / 50)),
  ),
];

function cycled(make: (value: number, parameter: number) => number) {
  return ([parameter, items]: [number, number[]]) =>
    (count: number) =>
      Array.from({ length: count }, (_, i) => make(Number(items[i % items.length]), parameter));
}

const anyHour = fc
  .tuple(fc.oneof(anyTimes, clockTimes), fc.oneof(...KINDS))
  .map(([times, valuesOf]) => ({ times, values: valuesOf(times.length) }));

const pack = (times: number[], values: number[]) => encodeHour(BUCKET, times, values, 0, times.length);

const same = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  a.length === b.length && Array.from(a).every((item, i) => Object.is(item, b[i]));

/** An hour at 1 Hz, with evenly distributed clock delays of up to 20 ms. */
const random = createRandom(7, 'packed hour');
const EXACT = Array.from({ length: 3600 }, (_, i) => BUCKET + i * 1000);
const JITTERING = EXACT.map((time) => time + Math.floor(random.between(0, 21)));

function walk(step: number, round: (value: number) => number, start: number = 20) {
  let value = start;
  return EXACT.map(() => {
    value += step * random.normal();
    return round(value);
  });
}

test('Packed hour: random samples: packed and unpacked unchanged, bit by bit', () => {
  fc.assert(
    fc.property(anyHour, ({ times, values }) => {
      const out = unpackSamples(BUCKET, pack(times, values));
      expect(same(out.times, times) && same(out.values, values)).toBe(true);
    }),
    { numRuns: 250 },
  );
});

test('Packed hour: random samples: never larger than in version 1 of the format', () => {
  fc.assert(
    fc.property(anyHour, ({ times, values }) => {
      expect(pack(times, values).length).toBeLessThanOrEqual(1 + 12 * times.length);
    }),
  );
});

const hundredths = (value: number) => Math.round(value * 100) / 100;

test.each([
  ['one value, exact clock', EXACT, EXACT.map(() => 21.5), FORMS.decimals, 0.01],
  ['hundredths, exact clock', EXACT, walk(0.02, hundredths), FORMS.decimals, 0.5],
  ['hundredths, jitter', JITTERING, walk(0.02, hundredths), FORMS.decimals, 1.1],
  ['whole numbers, jitter', JITTERING, walk(1, Math.round), FORMS.decimals, 1],
  ['hundredths around 0, as printf rounds them', EXACT, walk(0.01, hundredths, 0), FORMS.decimals, 0.5],
  ['full doubles, exact clock', EXACT, walk(0.1, Number), FORMS.bits, 6],
  ['full doubles, jitter', JITTERING, walk(0.1, Number), FORMS.bits, 6.6],
  ['singles, exact clock', EXACT, walk(0.1, Math.fround), FORMS.singleBits, 2.5],
  [
    'tenths as singles',
    EXACT,
    walk(0.1, (value) => Math.fround(Math.round(value * 10) / 10)),
    FORMS.singleDecimals,
    0.4,
  ],
  [
    'steps of a converter',
    EXACT,
    walk(2, (value) => (Math.round(value) * 3.3) / 4096, 2000),
    FORMS.table,
    0.6,
  ],
  [
    'a clock that misses one tick in ten',
    JITTERING.filter((_, i) => i % 10 !== 3),
    EXACT.map(() => 1),
    FORMS.decimals,
    0.7,
  ],
])('Packed hour: 1 Hz, %s: at most the expected bytes for each sample', (_, times, values, form, most) => {
  const blob = pack(times, values);
  expect([...blob.subarray(0, 2)]).toEqual([2, form]);
  expect(blob.length / times.length).toBeLessThanOrEqual(most);
  const out = unpackSamples(BUCKET, blob);
  expect(same(out.times, times) && same(out.values, values.slice(0, times.length))).toBe(true);
});

test('Packed hour: 65,536 samples: packed and unpacked; one sample more: packing is refused', () => {
  const times = Array.from({ length: MAX_SAMPLES_PER_HISTORY_ROW + 1 }, (_, i) => BUCKET + i * 54);
  const values = times.map(() => random.normal());
  const out = unpackSamples(BUCKET, encodeHour(BUCKET, times, values, 0, MAX_SAMPLES_PER_HISTORY_ROW));
  expect(same(out.values, values.slice(0, -1))).toBe(true);
  expect(() => pack(times, values)).toThrow(/65537 samples/);
});

describe('Packed hour: broken bytes', () => {
  const blob = pack(JITTERING, walk(0.1, Number));

  /** @returns true if the bytes were read as an hour */
  function isRead(bytes: Uint8Array): boolean {
    try {
      const { times, values } = unpackSamples(BUCKET, bytes);
      expect(times.length).toBe(values.length);
      expect(times.every((time, i) => time > (times[i - 1] ?? BUCKET - 1) && time < BUCKET + HOUR_MS)).toBe(
        true,
      );
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
      return false;
    }
  }

  test('Packed hour: the last bytes are missing, or another byte follows: unpacking throws a RangeError', () => {
    fc.assert(
      fc.property(anyHour, fc.nat(), ({ times, values }, cut) => {
        const whole = pack(times, values);
        fc.pre(whole[0] === 2);
        expect(isRead(whole.subarray(0, cut % whole.length))).toBe(false);
        expect(isRead(Buffer.concat([whole, Buffer.from([0])]))).toBe(false);
      }),
    );
  });

  test('Packed hour: random bytes: a RangeError, or samples in ascending order within the hour', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        isRead(Buffer.concat([Buffer.from([2]), bytes]));
      }),
      { numRuns: 400 },
    );
    fc.assert(
      fc.property(anyHour, fc.nat(), fc.nat({ max: 255 }), ({ times, values }, at, byte) => {
        const bytes = pack(times, values);
        bytes[at % bytes.length] = byte;
        isRead(bytes);
      }),
      { numRuns: 250 },
    );
  });

  const longest = [0x80, 0x80, 0x04];
  const clock = [0, 0x80, 0x80, 0x80, 0x08, 0, 0, 0, 0];

  test.each([
    ['no samples', [2, 2, 0, ...clock, 0, 0, 0, 0], /no packed samples/],
    [
      'more samples than an hour may have',
      [2, 2, 0x81, 0x80, 0x04, ...clock, 0, 0, 0],
      /65537; 65536 is the most/,
    ],
    ['an unknown form', [2, 5, 1, ...clock, 0, 0, 0], /form 5/],
    ['an unknown order', [2, 0, 1, 0, 0, 3, 0], /a column 3/],
    ['nine planes', [2, 0, 1, 0, 0, 36, 0], /a column 36/],
    ['thirteen digits', [2, 2, 1, ...clock, 13, 0, 0], /13; 12 is the most/],
    ['a number without an end', [2, 2, ...new Array(11).fill(0xff)], /more than 64 bits/],
    ['an index beyond the table', [2, 4, 1, ...clock, 1, 0, 0, 0, 2], /item 1 of 1/],
    ['two equal times', [2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], /sample 1 is not after/],
    ['a time before the hour', [2, 2, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], /sample 0 is not after/],
    [
      'a time after the hour',
      [2, 2, 1, 0, 0, 0, 0, 0, 0x80, 0xba, 0xb7, 0x03, 0, 0, 0, 0],
      /3600000 ms after/,
    ],
    [
      'a clock far out of range',
      [2, 2, 2, 0, ...new Array(7).fill(0x80), 0x10, 0, 2, 0, 0, 0, 0, 0],
      /far beyond/,
    ],
    [
      'noise instead of deflated bytes of a plane',
      [2, 2, 9, ...clock, 0, 0, 4, 0, 3, 7, 7, 7],
      /cannot be inflated/,
    ],
  ])('Packed hour: %s: unpacking throws a RangeError', (_, bytes, message) => {
    expect(() => unpackSamples(BUCKET, Buffer.from(bytes))).toThrow(message);
    expect(() => unpackSamples(BUCKET, Buffer.from(bytes))).toThrow(RangeError);
  });

  test('Packed hour: a compressed plane would inflate to 50 MB: inflation stops at the size of its samples', () => {
    const bomb = deflateRawSync(Buffer.alloc(50_000_000));
    const length = [(bomb.length & 0x7f) | 0x80, ((bomb.length >> 7) & 0x7f) | 0x80, bomb.length >> 14];
    const bytes = Buffer.concat([Buffer.from([2, 2, ...longest, ...clock, 0, 0, 4, 0, ...length]), bomb]);
    expect(() => unpackSamples(BUCKET, bytes)).toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ code: 'ERR_BUFFER_TOO_LARGE' }) }),
    );
  });

  test('Packed hour: any one byte is inverted: a RangeError, or samples in ascending order within the hour', () => {
    for (let at = 0; at < blob.length; at += 499) {
      const bytes = Buffer.from(blob);
      bytes[at] = ~Number(bytes[at]) & 0xff;
      isRead(bytes);
    }
  });
});

test.each([
  ['no sample', [], 0, 0],
  ['a sample before the hour', [BUCKET - 1, BUCKET], 0, 2],
  ['a sample after the hour', [BUCKET, BUCKET + HOUR_MS], 0, 2],
  ['indexes beyond the series', [BUCKET], 0, 2],
])('Packed hour: packing %s: a RangeError is thrown', (_, times, from, to) => {
  expect(() => encodeHour(BUCKET, times, [1, 2], from, to)).toThrow(RangeError);
});

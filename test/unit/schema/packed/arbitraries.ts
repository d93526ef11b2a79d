import fc from 'fast-check';

/** Generators for property tests of the packed form. */

const SPECIAL = [0, -0, 1, -1, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, -Number.MIN_VALUE, 0.1];

/** Every finite double. Values that code often gets wrong are frequent. */
export const anyValue = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(...SPECIAL),
);

/**
 * Samples of one sensor as they may arrive: in any order, with repeated times.
 * @param range of the times, in epoch ms
 */
export const arrivals = ({ min, max, maxLength = 60 }: { min: number; max: number; maxLength?: number }) =>
  fc
    .array(fc.tuple(fc.integer({ min, max }), anyValue), { maxLength })
    .map((samples) => ({ times: samples.map(([time]) => time), values: samples.map(([, value]) => value) }));

/** Samples by ascending time, one per instant. @param range of the times, in epoch ms */
export const sortedSeries = ({
  min,
  max,
  minLength = 0,
  maxLength = 60,
}: {
  min: number;
  max: number;
  minLength?: number;
  maxLength?: number;
}) =>
  fc
    .uniqueArray(fc.tuple(fc.integer({ min, max }), anyValue), {
      minLength,
      maxLength,
      selector: ([time]) => time,
    })
    .map((samples) => {
      const sorted = samples.sort(([a], [b]) => a - b);
      return { times: sorted.map(([time]) => time), values: sorted.map(([, value]) => value) };
    });

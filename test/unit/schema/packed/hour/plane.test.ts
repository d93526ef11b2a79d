import { constants, deflateRawSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Reader, varint } from '../../../../../schema/packed/hour/bytes.ts';
import { packPlane, planeOf, unpackPlane } from '../../../../../schema/packed/hour/plane.ts';

const bytesOf = (words: number[], shift = 0) => [...planeOf(Int32Array.from(words), shift).bytes];
const estimateOf = (words: number[], shift = 0) => planeOf(Int32Array.from(words), shift).estimate;

test.each([
  [0, 0x44],
  [8, 0x33],
  [16, 0xa2],
  [24, 0xf1],
])('Byte plane: word 0xf1a23344 shifted by %i bits: the plane has the byte %i', (shift, byte) => {
  expect(bytesOf([0xf1a23344 | 0, 0], shift)).toEqual([byte, 0]);
});

test.each([
  ['one value: the 2 bytes that it takes', [7, 7, 7, 7], 2],
  ['one sample: 2 bytes', [7], 2],
  [
    'two values, evenly: a bit each, and half a byte for each value',
    [...Array(16).fill(1), ...Array(16).fill(2)],
    5,
  ],
  [
    'one byte in four differs: the entropy, and half a byte for each value',
    [...Array(48).fill(0), ...Array(16).fill(9)],
    (64 * 0.8112781244591328) / 8 + 1,
  ],
  ['as many values as samples: no more bytes than samples', [1, 2, 3, 4], (4 * 2) / 8 + 2],
  ['noise: no more bytes than samples', [1, 2, 3].flatMap((n) => [n, n + 10]), (6 * Math.log2(6)) / 8 + 3],
  ['256 values: no more bytes than samples', Array.from({ length: 256 }, (_, i) => i), 256],
])('Byte plane: estimated bytes of the packed plane: %s', (_, words, bytes) => {
  expect(estimateOf(words)).toBeCloseTo(bytes, 9);
});

const pack = (bytes: Uint8Array, estimate: number = 0) =>
  packPlane({ bytes, estimate }).map((part) => Buffer.from(part));

const deflated = (bytes: Uint8Array) =>
  [constants.Z_RLE, constants.Z_FILTERED].map((strategy) => deflateRawSync(bytes, { strategy }));

test('Byte plane: random bytes: packed and read back unchanged', () => {
  const bytes = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 300, size: 'max' });
  fc.assert(
    fc.property(bytes, fc.nat({ max: 300 }), (list, estimate) => {
      const reader = new Reader(Buffer.concat([...pack(Uint8Array.from(list), estimate), Buffer.from([77])]));
      expect([...unpackPlane(reader, list.length)]).toEqual(list);
      expect(reader.byte()).toBe(77);
    }),
  );
});

test('Byte plane: any compressible bytes: the shorter of two deflate strategies is used, the first one for equal lengths', () => {
  const few = fc.array(fc.nat({ max: 6 }), { minLength: 60, maxLength: 200, size: 'max' });
  fc.assert(
    fc.property(few, fc.nat({ max: 3 }), (list, repeats) => {
      const bytes = Uint8Array.from(
        Array(1 + repeats)
          .fill(list)
          .flat(),
      );
      const [runs, matches] = deflated(bytes);
      const best = runs && matches && matches.length < runs.length ? matches : runs;
      fc.pre(best !== undefined && best.length < bytes.length && new Set(list).size > 1);
      expect(pack(bytes)).toEqual([varint(Number(best?.length)), best]);
    }),
  );
});

test.each([
  [78.9, true],
  [79, false],
  [79.1, false],
  [72, true],
])('Byte plane: 80 bytes, estimated at %d bytes when packed: deflated is %p', (estimate, isDeflated) => {
  const bytes = Uint8Array.from({ length: 80 }, (_, i) => (i < 40 ? 1 : 2));
  const packed = pack(bytes, estimate);
  expect(packed[0]).toEqual(varint(isDeflated ? Number(packed[1]?.length) : 80));
  expect(packed[1]?.equals(bytes)).toBe(!isDeflated);
});

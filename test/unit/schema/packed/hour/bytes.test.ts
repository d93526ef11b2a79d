import { expect, test } from '@jest/globals';
import { Reader, signedVarint, varint } from '../../../../../schema/packed/hour/bytes.ts';

test.each([
  [0, 1],
  [1, 1],
  [127, 1],
  [128, 2],
  [16_383, 2],
  [16_384, 3],
  [2 ** 32 - 1, 5],
  [2 ** 32, 5],
  [2 ** 32 + 127, 5],
  [2 ** 33 + 128, 5],
  [2 ** 42 + 1, 7],
  [2 ** 53, 8],
])('Varint: %i: encoded in %i bytes, with the top bit set in all but the last byte', (number, length) => {
  const bytes = varint(number);
  expect(bytes).toHaveLength(length);
  expect([...bytes].reduceRight((sum, byte) => sum * 128 + (byte & 0x7f), 0)).toBe(number);
  expect([...bytes].map((byte) => byte > 0x7f)).toEqual([...bytes].map((_, i) => i < length - 1));
});

test('Varint: signed numbers of 64 bits: the reader returns the same bits', () => {
  const words = [0, 1, 2, 63, 64, 127, 128, 0x7fffffff, -0x80000000, -64, -65, -1];
  for (const high of words) {
    for (const low of words) {
      const bytes = signedVarint([high, low]);
      expect(new Reader(bytes).signedVarint().map((word) => word | 0)).toEqual([high, low]);
    }
  }
});

test.each([
  ['no byte is left', [], /more are needed/],
  ['the last byte announces another', [0x80, 0x80], /of 2 bytes: more are needed/],
  ['a number has more than 64 bits', Array(11).fill(0x80), /more than 64 bits/],
])('Byte reader: %s: a RangeError is thrown', (_, bytes, message) => {
  const read = () => new Reader(Uint8Array.from(bytes)).signedVarint();
  expect(read).toThrow(RangeError);
  expect(read).toThrow(message);
});

test.each([0, 127, 128, 2 ** 31, 2 ** 32 - 1, 2 ** 32 + 5, 2 ** 53])(
  'Byte reader: count %i: read with this maximum, refused with a smaller one',
  (count) => {
    expect(new Reader(varint(count)).count(count)).toBe(count);
    expect(() => new Reader(varint(count)).count(count - 1)).toThrow(
      new RangeError(`packed samples claim ${count}; ${count - 1} is the most`),
    );
  },
);

test('Byte reader: end() while bytes are left: a RangeError; end() without bytes left: accepted', () => {
  const reader = new Reader(Uint8Array.of(1, 2, 3));
  reader.bytes(2);
  expect(() => reader.end()).toThrow(
    new RangeError('packed samples are followed by 1 bytes of something else'),
  );
  expect(reader.byte()).toBe(3);
  reader.end();
});

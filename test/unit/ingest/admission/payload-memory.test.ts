import { describe, expect, test } from '@jest/globals';
import { copyBytes, keptBytes, PayloadMemory } from '../../../../api/ingest/admission/byte-budget.ts';

/** More than any pool of Node.js. */
const CHUNK_BYTES = 65_536;

const chunk = Buffer.from(new ArrayBuffer(CHUNK_BYTES));

describe('Payload memory: a view of a chunk', () => {
  test.each([
    ['a small part of the chunk', 100, true],
    ['a bit less than half of the chunk', 31_000, true],
    ['most of the chunk', 40_000, false],
    ['all of the chunk', CHUNK_BYTES, false],
  ])('Payload memory: the payload is %s: copied to its own memory: %s', (_, length, isCopied) => {
    const payload = chunk.subarray(0, length);
    const own = new PayloadMemory().own(payload);
    expect(own.equals(payload)).toBe(true);
    expect(own.buffer === payload.buffer).toBe(!isCopied);
    expect(own.buffer.byteLength).toBeLessThanOrEqual(isCopied ? Math.max(length, 2048) : CHUNK_BYTES);
  });
});

describe('Payload memory: memory outside the pool of Node.js', () => {
  test.each([0, 1, 7, 64, 65, 2048, 4095, 4096, 20_000, 32_767])(
    'Payload memory: payload of %i bytes from a shared pool: at most twice its size plus 2 KiB stays in memory',
    (length) => {
      const own = new PayloadMemory().own(Buffer.from(chunk.subarray(0, length)));
      expect(own.length).toBe(length);
      expect(own.buffer.byteLength).toBeLessThanOrEqual(2 * length + 2048);
      expect(copyBytes(own).buffer.byteLength).toBe(length);
    },
  );

  test('Payload memory: payload is a string: stored as UTF-8 bytes outside the Node.js pool', () => {
    const own = new PayloadMemory().own('ä');
    expect(own.toString('hex')).toBe('c3a4');
    expect(own.buffer.byteLength).toBeLessThanOrEqual(2048);
  });

  test('Payload memory: 2,000 payloads of many lengths are copied: each copy equals its payload', () => {
    const memory = new PayloadMemory();
    const payloads = Array.from({ length: 2000 }, (_, index) => Buffer.alloc(index % 1500, index));
    const copies = payloads.map((payload) => memory.own(Buffer.concat([payload])));
    expect(copies).toEqual(payloads);
    for (const copy of copies) expect(keptBytes(copy)).toBe(copy.length);
  });
});

describe('Kept bytes of a payload', () => {
  test.each([
    ['in memory of its own: its length', copyBytes(chunk.subarray(0, 7)), 7],
    ['a view of memory up to 2 KiB larger: its length', Buffer.from(new ArrayBuffer(2055)).subarray(0, 7), 7],
    [
      'a view of most of a chunk: the size of the chunk minus 2 KiB',
      chunk.subarray(0, 40_000),
      CHUNK_BYTES - 2048,
    ],
    ['a whole chunk: the size of the chunk', chunk, CHUNK_BYTES],
  ])('Bytes kept by a payload: payload is %s', (_, payload, bytes) => expect(keptBytes(payload)).toBe(bytes));

  test('Bytes kept by a payload: payload is in the Node.js pool: the pool size minus 2 KiB', () => {
    expect(keptBytes(Buffer.from([1]))).toBe(Buffer.poolSize - 2048);
  });
});

import { expect, test } from '@jest/globals';
import { copyBytes, PayloadMemory } from '../../../../api/ingest/admission/byte-budget.ts';

/** More than any pool of Node.js. */
const CHUNK_BYTES = 65_536;

const chunk = Buffer.from(new ArrayBuffer(CHUNK_BYTES));

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

test.each([0, 1, 7, 64, 65, 2048, 4095, 4096, 20_000, 32_767])(
  'Payload memory: payload of %i bytes from a shared pool: at most twice its size plus 2 KiB stays in memory',
  (length) => {
    const own = new PayloadMemory().own(Buffer.from(chunk.subarray(0, length)));
    expect(own.length).toBe(length);
    expect(own.buffer.byteLength).toBeLessThanOrEqual(2 * length + 2048);
    expect(copyBytes(own).buffer.byteLength).toBe(length);
  },
);

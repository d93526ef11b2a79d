import { expect, test } from '@jest/globals';
import { storedForm } from '../../../api/store/dead-letters.ts';

const contentOf = (payload: Buffer) =>
  storedForm({
    receivedAt: Date.UTC(2026, 10, 21),
    device: 'pump',
    topic: 'iot/v1/pump/measurements',
    codes: { malformed: 1 },
    content: { contentType: undefined, payload, refused: [{ index: -1, code: 'malformed' }] },
  }).content;

test('Stored dead letter: payload of 1 MiB: only its first 64 KiB stay in memory', () => {
  const payload = Buffer.alloc(1024 * 1024, 7);
  const content = contentOf(payload);
  expect(content?.payload.equals(payload.subarray(0, 65_536))).toBe(true);
  expect(content?.payload.buffer.byteLength).toBe(65_536);
  expect(content?.size).toBe(1024 * 1024);
});

test('Stored dead letter: payload of 64 KiB: stored without a copy in memory', () => {
  const payload = Buffer.alloc(65_536, 7);
  expect(contentOf(payload)?.payload).toBe(payload);
});

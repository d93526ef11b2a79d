import { describe, expect, test } from '@jest/globals';
import { createSettling, ownBytes } from '../../../api/mqtt/embedded/settling.js';
import { createMetrics } from '../../../api/observability/metrics.js';

describe('Payload of the embedded broker', () => {
  const chunk = Buffer.from(new ArrayBuffer(65_536));

  test.each([
    ['a small part of what was read', 100, true],
    ['a bit less than half of what was read', 31_000, true],
    ['most of what was read', 40_000, false],
    ['all of it', 65_536, false],
  ])('%s: copied: %s', (_, length, isCopied) => {
    const payload = chunk.subarray(0, length);
    const own = ownBytes(payload);
    expect(own.equals(payload)).toBe(true);
    expect(own.buffer === payload.buffer).toBe(!isCopied);
  });

  test('a text: its bytes', () => {
    expect(ownBytes('ä').toString('hex')).toBe('c3a4');
  });

  test('a small message after a large one: it keeps little memory alive', async () => {
    /** @type {Buffer[]} */
    const kept = [];
    const settling = createSettling({
      handleMessage: async ({ payload }) => {
        kept.push(payload);
        return 'accepted';
      },
      clock: () => 0,
      connectionOf: () => undefined,
      canPublish: () => true,
      canSendFor: () => true,
      halfOpen: () => 0,
      forward: () => {},
      metrics: createMetrics({ version: 'test', role: 'all' }),
    });
    const packet = /** @type {any} */ ({
      topic: 'iot/v1/d/measurements',
      payload: chunk.subarray(65_000, 65_007),
      qos: 1,
    });
    await new Promise((resolve) => settling(null, packet, resolve));
    expect(kept[0]?.length).toBe(7);
    expect(kept[0]?.buffer.byteLength).toBeLessThan(16_384);
  });
});

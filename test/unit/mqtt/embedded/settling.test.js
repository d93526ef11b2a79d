import { expect, test } from '@jest/globals';
import { Deliveries } from '../../../../api/mqtt/acknowledgements.js';
import { createSettling } from '../../../../api/mqtt/embedded/settling.js';
import { createMetrics } from '../../../../api/observability/metrics.js';

test('Embedded broker: a small message after a large one: neither it nor its packet keeps the chunk alive', async () => {
  const chunk = Buffer.from(new ArrayBuffer(65_536));
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
    deliveriesOf: () => new Deliveries(),
    halfOpen: () => 0,
    forward: () => {},
    metrics: createMetrics({ version: 'test', role: 'all' }),
  });
  const packet = /** @type {any} */ ({
    topic: 'iot/v1/d/measurements',
    payload: chunk.subarray(65_000, 65_007),
    qos: 1,
    properties: { correlationData: chunk.subarray(64_000, 64_016) },
  });
  await new Promise((resolve) => settling(null, packet, resolve));
  expect(kept[0]?.equals(chunk.subarray(65_000, 65_007))).toBe(true);
  expect(kept[0]?.buffer.byteLength).toBeLessThanOrEqual(2048);
  expect(packet.payload).toBe(kept[0]);
  expect(packet.properties.correlationData.buffer.byteLength).toBeLessThanOrEqual(2048);
});

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readMetrics } from '../../../../api/features/sparkplug/metrics.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';

const NOW = Date.UTC(2026, 10, 25);

test('Measurement counts: any Sparkplug metrics: each metric counts once as stored, refused, merged or skipped', () => {
  const metric = fc.record({
    name: fc.constantFrom(null, 't', 'Node Control/Rebirth'),
    alias: fc.constantFrom(null, '1', '2'),
    datatype: fc.constantFrom(0, 3, 10, 11, 12, 16, 22),
    implied: fc.constantFrom(0, 10),
    timestamp: fc.constantFrom(null, NOW, 0),
    value: fc.constantFrom(null, 1, 2.5, true, 'text', Number.NaN),
    structure: fc.constantFrom(null, 'template', 'bytes'),
    isTransient: fc.boolean(),
  });
  const definitions = { names: new Map([['1', 't']]), datatypes: new Map([['t', 10]]), contested: new Set() };
  fc.assert(
    fc.property(fc.array(metric), fc.constantFrom(definitions, null), (metrics, defined) => {
      const batch = new MessageBatch({
        receivedAt: NOW,
        oldest: NOW - 1e9,
        newest: NOW + 60_000,
        relative: true,
      });
      readMetrics({ metrics, timestamp: NOW } as never, defined as never, batch);
      const { received, stored, merged, refused, skipped } = batch.measurementCounts();
      expect(received).toBe(metrics.length);
      expect(received).toBe(stored + merged + refused + skipped);
    }),
  );
});

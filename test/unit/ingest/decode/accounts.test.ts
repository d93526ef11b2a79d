import { expect, test } from '@jest/globals';
import { encode } from 'cborg';
import fc from 'fast-check';
import { decode } from '../../../../api/ingest/decode/index.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';
import type { MeasurementCounts } from '../../../../api/observability/process-stats.ts';
import { MillraceError } from '../../../../common/errors.ts';

const NOW = Date.UTC(2026, 10, 25);
const emptyBatch = () =>
  new MessageBatch({ receivedAt: NOW, oldest: NOW - 1e9, newest: NOW + 60_000, relative: true });

/** Sum of all outcomes of measurements, which `received` must equal. */
const sum = ({ stored, merged, refused, skipped }: MeasurementCounts) => stored + merged + refused + skipped;

const anyTime = fc.oneof(
  fc.constantFrom(undefined, NOW, NOW - 1, 0, 1e15, 'yesterday', '2026-11-25T00:00:00Z', null, -5),
  fc.double(),
);
const anyValue = fc.oneof(
  fc.constantFrom(21.5, -0, true, false, null, 'text', '21', [1], {}, { level: 80 }, undefined),
  fc.double(),
  fc.jsonValue({ maxDepth: 3 }),
);
const anyName = fc.constantFrom('t', 'h', 'ts', 'time', 'timestamp', 'a.b', '', 'x'.repeat(200));

const plain = fc.record({ sensor_id: anyName, ts: anyTime, value: anyValue }, { requiredKeys: [] });
const map = fc.dictionary(anyName, anyValue);
const senml = fc.record(
  { bn: anyName, n: anyName, bt: anyTime, t: anyTime, v: anyValue, vb: anyValue, vs: anyValue, u: anyName },
  { requiredKeys: [] },
);
const anyContent = fc.oneof(
  ...[plain, map, senml].flatMap((element) => [element, fc.array(element, { maxLength: 6 })]),
  fc.array(fc.oneof(plain, map, senml, anyValue), { maxLength: 6 }),
);

function accountOfPayload(payload: Buffer, contentType?: string) {
  const batch = emptyBatch();
  try {
    decode(payload, contentType, batch);
  } catch (error) {
    // A message that is refused as a whole counts as one.
    if (error instanceof MillraceError) return null;
    throw error;
  }
  return batch.measurementCounts();
}

test('Measurement counts: any JSON or CBOR payload: each measurement counts once as stored, refused, merged or skipped', () => {
  fc.assert(
    fc.property(anyContent, fc.constantFrom(undefined, 'application/senml+json'), (content, type) => {
      const text = JSON.stringify(content);
      const account = accountOfPayload(Buffer.from(text), type);
      if (account) expect(account.received).toBe(sum(account));
      const cbor = accountOfPayload(Buffer.from(encode(JSON.parse(text))), 'application/senml+cbor');
      if (cbor) expect(cbor.received).toBe(sum(cbor));
    }),
    { numRuns: 2000 },
  );
});

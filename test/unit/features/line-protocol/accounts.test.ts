import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineDecoder } from '../../../../api/features/line-protocol/decoder.ts';
import { LineSkip } from '../../../../api/features/line-protocol/skip.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';

const NOW = Date.UTC(2026, 10, 25);
const emptyBatch = () =>
  new MessageBatch({ receivedAt: NOW, oldest: NOW - 1e9, newest: NOW + 60_000, relative: true });

test('Measurement counts: any lines of line protocol: each value counts once as stored, refused, merged or skipped', () => {
  const field = fc
    .tuple(fc.constantFrom('t', 'h'), fc.constantFrom('1', '2i', 't', '"text"', 'x', ''))
    .map((pair) => pair.join('='));
  const line = fc
    .tuple(
      fc.constantFrom('m', 'm,host=a', 'm,host', '', '# m'),
      fc.array(field, { minLength: 1, maxLength: 3 }).map((fields) => fields.join()),
      fc.constantFrom('', ` ${NOW}000000`, ' 5', ' x'),
    )
    .map(([series, fields, time]) => `${series} ${fields}${time}`);
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const decoder = new LineDecoder({ deviceTags: ['host'], skip: new LineSkip(['f*=1']), emptyBatch });
      const { devices } = decoder.decode(Buffer.from(lines.join('\n')), 'ns', NOW);
      for (const account of [...devices.values()].flat().map((batch) => batch.measurementCounts())) {
        const { received, stored, merged, refused, skipped } = account;
        expect(received).toBe(stored + merged + refused + skipped);
      }
    }),
  );
});

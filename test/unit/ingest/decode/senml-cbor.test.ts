import { expect, test } from '@jest/globals';
import { decode } from '../../../../api/ingest/decode/index.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';
import { parseSenmlCbor } from '../../../../api/ingest/decode/senml-cbor.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

function read(hex: string, contentType?: string) {
  const batch = new MessageBatch({ receivedAt: NOW, oldest: 0, newest: NOW + 1e9, relative: true });
  decode(Buffer.from(hex, 'hex'), contentType, batch);
  const found = [...batch.sensors].flatMap(([sensor, { times, values }]) =>
    times.map((ts, at) => [sensor, ts, values[at]]),
  );
  return { found, refused: batch.refused, skipped: batch.counts.skipped };
}

// The cbor2 package of Python encoded these payloads.
const CURRENTS =
  '87a721781b75726e3a6465763a6f773a3130653230373361303130383030363a22fb41d303a15b00106223614120050067766f6c' +
  '7461676501615602fb405e066666666666a3006763757272656e74062402fb3ff3333333333333a3006763757272656e74062302fb' +
  '3ff4cccccccccccda3006763757272656e74062202fb3ff6666666666666a3006763757272656e74062102fb3ff8000000000000a3' +
  '006763757272656e74062002fb3ff999999999999aa2006763757272656e7402fb3ffb333333333333';

test.each(['application/senml+cbor', 'application/cbor', undefined])(
  'SenML as CBOR: example of RFC 8428, section 5.1.2, content type %s: all measurements are read',
  (contentType) => {
    const at = 1_276_020_076_001;
    const bn = 'urn:dev:ow:10e2073a0108006:';
    expect(read(CURRENTS, contentType)).toEqual({
      found: [
        [`${bn}voltage`, at, 120.1],
        [`${bn}current`, at - 5000, 1.2],
        [`${bn}current`, at - 4000, 1.3],
        [`${bn}current`, at - 3000, 1.4],
        [`${bn}current`, at - 2000, 1.5],
        [`${bn}current`, at - 1000, 1.6],
        [`${bn}current`, at, 1.7],
      ],
      refused: [],
      skipped: 0,
    });
  },
);

test.each([
  ['a label that must be understood', '81a3006161020162785f02'],
  ['a pack that ends too early', '82a200616102'],
  ['no array', 'a2006161021a'],
  ['an array of indefinite length without end', '9f'],
  ['bytes after the pack', '80f6'],
])('SenML as CBOR: payload has %s: refused as malformed', (_, hex) => {
  expect(() => read(hex, 'application/senml+cbor')).toThrow(expect.objectContaining({ code: 'malformed' }));
});

test('SenML as CBOR: 160,000 nested items: accepted; one more: the whole payload is refused with too_large', () => {
  /** An array of one array of zeros. @param items of the payload */
  const nested = (items: number) => {
    const begin = Buffer.from([0x81, 0x9a, 0, 0, 0, 0]);
    begin.writeUInt32BE(items - 2, 2);
    return Buffer.concat([begin, Buffer.alloc(items - 2)]);
  };
  expect(parseSenmlCbor(nested(160_000))).toHaveLength(1);
  const error = expect.objectContaining({ code: 'too_large', message: '10000 records are the most' });
  expect(() => parseSenmlCbor(nested(160_001))).toThrow(error);
});

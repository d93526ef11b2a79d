import { describe, expect, test } from '@jest/globals';
import { encode } from 'cborg';
import { decode, MessageDecoder } from '../../../../api/ingest/decode/index.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';

const NOW = Date.UTC(2026, 10, 22, 12);

function read(payload: string | Buffer, contentType?: string) {
  const batch = new MessageBatch({ receivedAt: NOW, oldest: 0, newest: NOW + 1e9, relative: true });
  decode(Buffer.from(payload), contentType, batch);
  const found = [...batch.sensors].flatMap(([sensor, { times, values }]) =>
    times.map((ts, at) => [sensor, ts - NOW, values[at]]),
  );
  return { found, refused: batch.refused.map(({ code }) => code), counts: batch.counts };
}

const PLAIN = '[{"sensor_id":"t","value":1}]';
// The fast reader declines booleans.
const SENML = '[{"n":"t","vb":true}]';
const CBOR = Buffer.from(encode([{ n: 't', v: 1 }]));
const ONE = [['t', 0, 1]];

test.each([
  ['application/json', PLAIN],
  ['text/json', PLAIN],
  ['APPLICATION/JSON', PLAIN],
  ['application/json; charset=utf-8', PLAIN],
  [' application/json ;x', PLAIN],
  ['application/json', SENML],
  ['text/json', SENML],
  ['application/senml+json', SENML],
  ['application/senml+json', '[{"n":"t","v":1}]'],
  ['application/senml+cbor', CBOR],
  ['application/cbor', CBOR],
  ['', PLAIN],
  [undefined, PLAIN],
  [undefined, SENML],
  [undefined, CBOR],
])('Payload format: MQTT content type %j: the measurement is read', (contentType, payload) => {
  expect(read(payload, contentType)).toMatchObject({ found: ONE, refused: [] });
});

test.each([...' \t\n\r'])('Payload format: %j before the JSON text: the measurement is read', (space) => {
  expect(read(space + PLAIN).found).toEqual(ONE);
});

test('Payload format: no content type, CBOR array of short or indefinite length: measurements are read', () => {
  const records = Array.from({ length: 23 }, (_, at) => ({ n: 't', t: -at, v: at }));
  const payload = Buffer.from(encode(records));
  expect(payload[0]).toBe(0x97);
  expect(read(payload).found).toHaveLength(23);
  expect(read(Buffer.from([0x80]))).toMatchObject({ found: [], refused: [] });
  // An array of indefinite length (RFC 8949, section 3.2.2).
  const endless = Buffer.concat([Buffer.from([0x9f]), CBOR.subarray(1), Buffer.from([0xff])]);
  expect(read(endless).found).toEqual(ONE);
});

test.each([
  ['a map in CBOR', [0xa0]],
  ['no text and no array', [0x7f]],
  ['a control character', [0x1f]],
  ['a space and a control character', [0x20, 0x1f]],
])('Payload format: no content type, payload begins with %s: refused with unknown_format', (_, bytes) => {
  const error = expect.objectContaining({ code: 'unknown_format' });
  expect(() => read(Buffer.from([...bytes, 0x31]))).toThrow(error);
});

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'text/html'])(
  'Payload format: content type %s: refused with unknown_format',
  (contentType) => {
    expect(() => read(PLAIN, contentType)).toThrow(expect.objectContaining({ code: 'unknown_format' }));
  },
);

test('Payload format: the decoder throws a TypeError: the error is thrown, not reported as a refusal', () => {
  const decoder = new MessageDecoder({ historyMs: 1e12, maxClockSkewMs: 0, relativeTimes: true });
  const payload = Object.assign(Buffer.from(PLAIN), {
    find() {
      throw new TypeError('a defect');
    },
  });
  expect(() => decoder.decode(payload, undefined, NOW)).toThrow(new TypeError('a defect'));
});

test('JSON payload, SenML or plain: an element has a sensor_id: read as plain JSON, whatever other keys it has', () => {
  const { found } = read('[{"sensor_id":"t","value":1,"v":2,"n":"x","u":"Cel"}]');
  expect(found).toEqual(ONE);
});

test.each(['n', 'v', 'bn', 'bt', 'vb', 'vs', 'vd', 'bver', 's', 'bv', 'bs', 'bu', 'u', 't'])(
  'JSON payload, SenML or plain: the first element has only the label %s: read as SenML',
  (label) => {
    const first = { [label]: ['bn', 'n', 'vs', 'vd', 'bu', 'u'].includes(label) ? 'a' : 1 };
    // A value alone is a measurement of the sensor without a name.
    const expected = label === 'v' ? 2 : 1;
    const { found } = read(JSON.stringify([first, { n: 't', vb: true }]));
    expect(found).toHaveLength(expected);
  },
);

test('JSON payload, SenML or plain: a single object with SenML labels, not an array: refused with bad_id', () => {
  expect(read('{"n":"t","vb":true}')).toMatchObject({ found: [], refused: ['bad_id'] });
});

test.each(['[null]', '[7]', '["n"]'])(
  'JSON payload, SenML or plain: %s, first element is no object: refused as malformed',
  (text) => {
    expect(read(text)).toMatchObject({ found: [], refused: ['malformed'] });
  },
);

test('JSON payload, SenML or plain: 10,000 measurements: accepted; one more: refused with too_large', () => {
  const pack = (count: number) => `[${Array(count).fill('{"n":"t","vb":true}')}]`;
  expect(read(pack(10_000)).counts.samples).toBe(10_000);
  expect(() => read(pack(10_001))).toThrow(expect.objectContaining({ code: 'too_large' }));
});

describe('Decode: SenML as CBOR', () => {
  const pack = (...records: [label: number | string, value: unknown][][]) =>
    Buffer.from(encode(records.map((fields) => new Map(fields))));

  test.each([
    [-5, 5, 6],
    [-3, 2, 1],
    [5, 7, 1],
    [-1, 10, 1],
  ])('SenML as CBOR: label %i next to a value: read as RFC 8428 defines', (label, value, expected) => {
    const { found } = read(
      pack([
        [0, 't'],
        [2, 1],
        [label, value],
      ]),
    );
    expect(found[0]?.[2]).toBe(expected);
  });

  test('SenML as CBOR: an integer beyond 2^53: stored as the nearest double', () => {
    expect(
      read(
        pack([
          [0, 't'],
          [2, 2n ** 60n],
        ]),
      ).found,
    ).toEqual([['t', 0, 2 ** 60]]);
  });
});

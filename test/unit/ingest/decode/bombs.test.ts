import { expect, test } from '@jest/globals';
import { decode } from '../../../../api/ingest/decode/index.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';

const MB = 1_000_000;
const NOW = Date.UTC(2026, 10, 21, 12);

const bytes = (hex: string, rest: Buffer = Buffer.alloc(0)) => Buffer.concat([Buffer.from(hex, 'hex'), rest]);

function read(payload: Buffer, contentType: string) {
  const batch = new MessageBatch({ receivedAt: NOW, oldest: 0, newest: NOW + 1, relative: true });
  decode(payload, contentType, batch);
  return batch;
}

test.each([
  ['arrays in arrays', Buffer.alloc(MB, 0x81), 'malformed'],
  ['arrays of indefinite length in arrays', Buffer.alloc(MB, 0x9f), 'malformed'],
  ['maps in maps', Buffer.alloc(MB, 0xa1), 'malformed'],
  ['tags on tags', Buffer.alloc(MB, 0xc4), 'malformed'],
  ['an array with a header of 2^32 elements', bytes('9affffffff'), 'malformed'],
  ['an array with a header of 2^53 elements', bytes('9b001fffffffffffff'), 'malformed'],
  ['an array with a header of 2^64 elements', bytes('9bffffffffffffffff'), 'malformed'],
  ['a map with a header of 2^53 pairs', bytes('81bb001fffffffffffff'), 'malformed'],
  ['bytes with a header of 2^53', bytes('815b001fffffffffffff'), 'malformed'],
  ['a text with a header of 4 GB', bytes('817affffffff'), 'malformed'],
  ['a million empty records', bytes('9a000f4240', Buffer.alloc(MB, 0xa0)), 'too_large'],
  ['a million empty records in one', bytes('81a1029a000f4240', Buffer.alloc(MB, 0xa0)), 'too_large'],
  ['a million empty records of an array without a length', bytes('9f', Buffer.alloc(MB, 0xa0)), 'too_large'],
])('CBOR bomb: %s: refused as malformed or too large', (_, payload, code) => {
  expect(() => read(payload, 'application/senml+cbor')).toThrow(expect.objectContaining({ code }));
});

test.each([
  ['application/json', '[{"sensor_id":"t","value":1,"__proto__":{"ts":7,"polluted":1}}]'],
  ['application/json', '[{"__proto__":{"sensor_id":"inherited","value":1}}]'],
  ['application/senml+json', '[{"n":"t","v":1,"constructor":{"prototype":{"polluted":1}}}]'],
])('%s payload: __proto__ and constructor: no prototype is polluted: %s', (contentType, payload) => {
  const batch = read(Buffer.from(payload), contentType);
  expect([...batch.sensors.keys()]).not.toContain('inherited');
  for (const { times } of batch.sensors.values()) expect(times).toEqual([NOW]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test.each([
  ['application/senml+json', Buffer.from('[{"__proto__":{"n":"inherited"},"v":1}]')],
  ['application/senml+cbor', bytes('81a2695f5f70726f746f5f5fa1616e69696e686572697465640201')],
])(
  '%s payload: unknown label __proto__ ends with an underscore: the whole payload is refused as malformed',
  (contentType, payload) => {
    expect(() => read(payload, contentType)).toThrow(expect.objectContaining({ code: 'malformed' }));
  },
);

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readBirthCertificate } from '../../../../api/features/sparkplug/births.ts';
import { definitionsOf } from '../../../../api/features/sparkplug/definition-book.ts';
import { encodeRebirth } from '../../../../api/features/sparkplug/host.ts';
import { bdSeqOf, readMetrics } from '../../../../api/features/sparkplug/metrics.ts';
import { decodePayload } from '../../../../api/features/sparkplug/payload.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { T0, vector } from '../../../support/features/sparkplug/vectors.ts';

const DEVICE = identifyDevice('plant/edge-1/press') as Identity;

function read(bytes: Buffer, birth?: Buffer) {
  const batch = new MessageBatch({ receivedAt: T0, oldest: 0, newest: T0 + 1e9, relative: true });
  const definitions = birth ? definitionsOf(decodePayload(birth).metrics, T0) : null;
  const allKnown = readMetrics(decodePayload(bytes), definitions, batch);
  const found = [...batch.sensors].flatMap(([sensor, { times, values }]) =>
    times.map((ts, at) => [sensor, ts - T0, values[at]]),
  );
  return { found, allKnown, refused: batch.refused, skipped: batch.counts.skipped };
}

test('Sparkplug NBIRTH payload: metrics: become sensors with values, except those of the protocol; bdSeq is read', () => {
  const payload = decodePayload(vector('nbirth'));
  expect([payload.timestamp, payload.seq, bdSeqOf(payload.metrics)]).toEqual([T0, 0, 7]);
  expect(readBirthCertificate(payload, DEVICE, T0)).toMatchObject({
    session: { id: T0, start: T0, offset: null },
    name: 'plant/edge-1/press',
    sensors: [{ index: 2, name: 'Supply Voltage', type: 'Float', unit: 'V' }],
    refused: [],
  });
  expect(read(vector('nbirth'), vector('nbirth'))).toEqual({
    found: [['Supply Voltage', 0, 12.5]],
    allKnown: true,
    refused: [],
    skipped: 3,
  });
});

test('Sparkplug DBIRTH payload: text: no sensor; null: a sensor', () => {
  const { sensors } = readBirthCertificate(decodePayload(vector('dbirth')), DEVICE, T0);
  expect(sensors.map(({ index, name, type, unit }) => [index, name, type, unit])).toEqual([
    [0, 'Temperature', 'Double', '°C'],
    [1, 'Count', 'Int64', undefined],
    [2, 'Running', 'Boolean', undefined],
    [4, 'Setpoint', 'Int16', undefined],
  ]);
  expect(read(vector('dbirth'), vector('dbirth')).found).toEqual([
    ['Temperature', 1, 20.5],
    ['Count', 1, -5],
    ['Running', 1, 1],
  ]);
});

test('Sparkplug data payload: two 64-bit aliases that round to one double: each resolves to its own name', () => {
  expect(read(vector('wideData'), vector('wideBirth')).found).toEqual([
    ['one', 1, 1],
    ['two', 1, 2],
  ]);
});

test('Sparkplug payload: smallest and largest value of each data type: exact, beyond 2^53 the nearest double', () => {
  const values: Record<string, unknown[]> = {};
  for (const [sensor, , value] of read(vector('types')).found) {
    const name = String(sensor);
    values[name] = [...(values[name] ?? []), value];
  }
  expect(values).toEqual({
    Int8: [-128, -1, 127],
    Int16: [-32_768, -1, 32_767],
    Int32: [-(2 ** 31), -1, 2 ** 31 - 1],
    Int64: [-(2 ** 63), -(2 ** 53), -1, 2 ** 53, 2 ** 63],
    UInt8: [0, 255],
    UInt16: [0, 65_535],
    UInt32: [0, 2 ** 32 - 1],
    UInt64: [0, 2 ** 53, 2 ** 64],
    Float: [0.5, -1.25],
    Double: [0.1, -1e300],
    Boolean: [0, 1],
    DateTime: [T0],
  });
});

test('Sparkplug payload: Int8 encoded in 32 bits and Int32 in 64 bits, like other libraries: the numbers are read', () => {
  expect(read(vector('narrowIntegers')).found.map(([name, , value]) => [name, value])).toEqual([
    ['Int8', -1],
    ['Int16', -2],
    ['UInt32', 2 ** 32 - 1],
    ['Int32', -3],
    ['Boolean', 1],
  ]);
});

test('Sparkplug payload: nulls, transient values, texts, bytes and files: skipped; data sets and templates: refused', () => {
  expect(read(vector('oddities'))).toEqual({
    found: [
      ['historical', -3_600_000, 2],
      ['no time of its own', 0, 4],
      ['no type, a double', 0, 5],
    ],
    allKnown: false,
    refused: [
      { index: 5, code: 'not_numeric', path: 'metrics[5].value', rule: expect.stringContaining('data set') },
      { index: 6, code: 'not_numeric', path: 'metrics[6].value', rule: expect.stringContaining('template') },
      { index: 8, code: 'not_finite', path: 'metrics[8].value', rule: 'must be a finite number' },
      {
        index: 11,
        code: 'unknown_sensor',
        path: 'metrics[11].datatype',
        rule: 'must be given here or in a birth',
      },
    ],
    skipped: 5,
  });
});

const malformed = expect.objectContaining({ code: 'malformed' });

test('Sparkplug payload: truncated at any byte: refused as malformed, except between two fields', () => {
  const whole = vector('nbirth');
  const found = new Set();
  for (let length = 1; length < whole.length; length++) {
    try {
      found.add(decodePayload(whole.subarray(0, length)).metrics.length);
    } catch (error) {
      expect(error).toEqual(malformed);
    }
  }
  // A payload that is cut between two fields is still valid. All other cuts are malformed.
  expect([...found]).toEqual([0, 1, 2, 3, 4]);
});

test.each([
  ['text', Buffer.from('{"value": 1}')],
  ['a length beyond the end', Buffer.from('12ffffffff07', 'hex')],
  ['a varint that does not end', Buffer.from('08ffffffffffffffffffff', 'hex')],
  ['a field without a number', Buffer.from('0000', 'hex')],
  ['a metric whose field reaches beyond it', Buffer.from('12020a0561626364', 'hex')],
  ['groups in groups', Buffer.alloc(100_000, 0x3b)],
  ['properties that end late', Buffer.from('12034a7f0a', 'hex')],
  ['a key that ends late', Buffer.from('12054a030a7f61', 'hex')],
])('Sparkplug payload: %s: refused as malformed', (_, bytes) => {
  expect(() => decodePayload(bytes)).toThrow(malformed);
});

test('Sparkplug payload: any bytes: decoded, or refused as malformed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        read(Buffer.from(bytes));
      } catch (error) {
        expect(error).toEqual(malformed);
      }
    }),
    { numRuns: 5000 },
  );
});

test('Sparkplug payload: 10,000 metrics: accepted; one more: refused with too_large', () => {
  // Concatenated protobuf payloads merge: their repeated fields add up.
  const one = vector('ddata');
  const times = (count: number) => Buffer.concat(Array(count).fill(one));
  expect(decodePayload(times(10_000)).metrics).toHaveLength(10_000);
  expect(() => decodePayload(times(10_001))).toThrow(expect.objectContaining({ code: 'too_large' }));
});

test('Sparkplug rebirth command: encoded: equal to the bytes of another implementation', () => {
  expect(encodeRebirth(T0)).toEqual(vector('rebirth'));
});

import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import protobuf from 'protobufjs/minimal.js';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem();
const client = useDevice(system);

/** @returns the newest value of each of its sensors */
async function valuesOf(device: string): Promise<Record<string, number | null>> {
  const response = await system.fetch(`/devices/${encodeURIComponent(device)}`);
  if (response.status === 404) return {};
  const { sensors } = await response.json();
  return Object.fromEntries(
    sensors
      .map((sensor: { name: string; value: unknown }) => [sensor.name, sensor.value])
      .filter(([, value]: unknown[]) => value !== null),
  );
}

/** @returns the codes of its dead letters */
async function codesOf(device: string): Promise<string[]> {
  const deadLetters = await system.all(`/dead-letters?limit=1000&device=${encodeURIComponent(device)}`);
  return deadLetters.flatMap(({ codes }) => Object.keys(codes)).sort();
}

const BOM = '\ufeff';
const now = Date.now();

/** A message, with the values and the dead letters that it must leave. */
type Case = [title: string, payload: string | Buffer, values: object, codes: string[]];

const numbered = (
  cases: Case[],
): Array<[title: string, index: number, payload: string | Buffer, values: object, codes: string[]]> =>
  cases.map(([title, payload, values, codes], index) => [title, index, payload, values, codes]);

const PAYLOADS: Case[] = [
  ['telegraf#3265, Metrics.NET#87: a byte order mark', `${BOM}{"t":21.5}`, { t: 21.5 }, []],
  ['cJSON#184: a byte order mark before an array', `${BOM}[{"sensor_id":"t","value":1}]`, { t: 1 }, []],
  ['jisoni#1: UTF-16 with a byte order mark', Buffer.from(`${BOM}{"t":3}`, 'utf16le'), { t: 3 }, []],
  ['telegraf#7536, thin-edge PR#3866: NUL after JSON', '{"t":2}\0', { t: 2 }, []],
  ['ArduinoMqtt#16: NUL behind SenML', `[{"n":"t","v":4}]\0`, { t: 4 }, []],
  ['nanomq#2170: NUL before JSON', '\0{"t":2}', {}, ['unknown_format']],
  ['Tasmota#4147, ESPEasy#470: nan as the value of a sensor', '{"t":nan,"h":40}', { h: 40 }, ['not_finite']],
  [
    'rtl_433#558: -nan as a value',
    '{"model":"Efergy","pulses":3200,"energy":-nan}',
    { pulses: 3200 },
    ['not_finite'],
  ],
  [
    'ArduinoJson#973: NaN as a value',
    '[{"sensor_id":"a","value":NaN},{"sensor_id":"b","value":5}]',
    { b: 5 },
    ['not_finite'],
  ],
  [
    'openmct#2298: -Infinity as a value',
    '[{"n":"a","v":-Infinity},{"n":"b","v":6}]',
    { b: 6 },
    ['not_finite'],
  ],
  [
    'awtrix-ng#9: nan within a sensor name',
    '{"nan":1,"x nan y":2,"z":nan}',
    { nan: 1, 'x nan y': 2 },
    ['not_finite'],
  ],
  ['rdz_ttgo_sonde#45: a comma too many', '{"a":1,}', {}, ['malformed']],
  ['DelphiCBOR#3: self-described CBOR', Buffer.from('d9d9f781a2006174021828', 'hex'), { t: 40 }, []],
  [
    'cbor#228: self-described CBOR with its tag twice',
    Buffer.from('d9d9f7d9d9f781a2006174021829', 'hex'),
    { t: 41 },
    [],
  ],
  [
    'an array of objects that only have names of SenML labels',
    '[{"u":230,"s":1,"t":21.5}]',
    { u: 230, s: 1, t: 21.5 },
    [],
  ],
  ['a SenML pack with base fields only', `[{"bn":"x","bt":${now / 1000}}]`, {}, ['not_numeric']],
];

describe('A message of measurements that is acknowledged: it leaves values, or a dead letter', () => {
  test.each(numbered(PAYLOADS))(
    'Measurement message: %s: after the acknowledgement its values are stored, or a dead letter has the error code',
    async (_, index, payload, values, codes) => {
      const device = `left-${index}`;
      await client.publish(`iot/v1/${device}/measurements`, payload);
      expect({ values: await valuesOf(device), codes: await codesOf(device) }).toEqual({ values, codes });
    },
  );
});

// Field numbers of Sparkplug 3.0, 6.4.1.
const DOUBLE = 10;

const metric = (name: string, write: (writer: protobuf.Writer) => void) => (payload: protobuf.Writer) => {
  const writer = payload.uint32((2 << 3) | 2).fork();
  writer
    .uint32((1 << 3) | 2)
    .string(name)
    .uint32(3 << 3)
    .uint64(now);
  write(writer);
  writer.ldelim();
};

const double = (value: number) => (writer: protobuf.Writer) =>
  void writer
    .uint32(4 << 3)
    .uint32(DOUBLE)
    .uint32((13 << 3) | 1)
    .double(value);

const structure = (type: number, field: number, bytes: Buffer) => (writer: protobuf.Writer) =>
  void writer
    .uint32(4 << 3)
    .uint32(type)
    .uint32((field << 3) | 2)
    .bytes(bytes);

function payloadOf(metrics: Array<(writer: protobuf.Writer) => void>) {
  const writer = protobuf.Writer.create()
    .uint32(1 << 3)
    .uint64(now);
  for (const write of metrics) write(writer);
  return Buffer.from(
    writer
      .uint32(3 << 3)
      .uint64(0)
      .finish(),
  );
}

const withBody = (body: Buffer, uuid: string = 'SPBV1.0_COMPRESSED') =>
  Buffer.from(
    protobuf.Writer.create()
      .uint32((4 << 3) | 2)
      .string(uuid)
      .uint32((5 << 3) | 2)
      .bytes(body)
      .finish(),
  );

const BIRTH = payloadOf([metric('speed', double(4.5))]);

const SPARKPLUG: Case[] = [
  ['sparkplugui#3: GZIP, as Ignition sends it', withBody(gzipSync(BIRTH)), { speed: 4.5 }, []],
  ['tahu PR#51: DEFLATE with the header of zlib', withBody(deflateSync(BIRTH)), { speed: 4.5 }, []],
  ['Cirrus-Link2/Sparkplug PR#2: bare DEFLATE', withBody(deflateRawSync(BIRTH)), { speed: 4.5 }, []],
  ['a body that is not compressed', withBody(Buffer.from('no')), {}, ['malformed']],
  ['a body that grows beyond the limit', withBody(gzipSync(Buffer.alloc(9_000_000))), {}, ['too_large']],
  ['a payload that is compressed twice', withBody(gzipSync(withBody(gzipSync(BIRTH)))), {}, ['malformed']],
  ['a body of another kind', withBody(BIRTH, 'file'), {}, ['unknown_format']],
  [
    'json-scada PR#99: a metric with a data set',
    payloadOf([metric('a', double(1)), metric('table', structure(16, 17, Buffer.from([8, 0])))]),
    { a: 1 },
    ['not_numeric'],
  ],
  [
    'micropython-sparkplugb#1: a metric with a template',
    payloadOf([metric('a', double(2)), metric('motor', structure(19, 18, Buffer.from([0x28, 0])))]),
    { a: 2 },
    ['not_numeric'],
  ],
  [
    'the definition of a template, which has no values',
    payloadOf([metric('a', double(3)), metric('_types_/motor', structure(19, 18, Buffer.from([0x28, 1])))]),
    { a: 3 },
    [],
  ],
  [
    'a metric with an array',
    payloadOf([metric('a', double(4)), metric('axes', structure(31, 16, Buffer.alloc(16)))]),
    { a: 4 },
    ['not_numeric'],
  ],
];

describe('A Sparkplug birth that is acknowledged: it leaves values, or a dead letter', () => {
  test.each(numbered(SPARKPLUG))(
    'Sparkplug NBIRTH: %s: after the acknowledgement its values are stored, or a dead letter has the error code',
    async (_, index, payload, values, codes) => {
      await client.publish(`spBv1.0/left/NBIRTH/n${index}`, payload);
      const device = `left/n${index}`;
      expect({ values: await valuesOf(device), codes: await codesOf(device) }).toEqual({ values, codes });
    },
  );
});

describe('A post with a content coding', () => {
  const body = Buffer.from('{"t":7}');

  const post = (device: string, coding: string, bytes: Buffer) =>
    system.fetch(`/measurements?device=${device}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': coding },
      body: new Uint8Array(bytes),
    });

  test.each([
    ['gzip', gzipSync(body)],
    ['x-gzip', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['br', brotliCompressSync(body)],
    ['zstd', zstdCompressSync(body)],
  ])(
    'HTTP post: tokenjam#365, thingsboard#6166: Content-Encoding %s: the values of the compressed body are stored',
    async (coding, bytes) => {
      expect((await post(`coded-${coding}`, coding, bytes)).status).toBe(200);
      expect(await valuesOf(`coded-${coding}`)).toEqual({ t: 7 });
    },
  );

  test('HTTP post: unknown Content-Encoding: answers 415 with the known codings', async () => {
    const response = await post('coded', 'lzw', body);
    const accepted = response.headers.get('accept-encoding');
    expect([response.status, accepted]).toEqual([415, 'gzip, deflate, br, zstd']);
  });

  test('HTTP post: compressed body grows beyond the size limit: answers 413', async () => {
    expect((await post('coded', 'gzip', gzipSync(Buffer.alloc(9_000_000, 0x20)))).status).toBe(413);
  });

  test('HTTP post: Content-Encoding is gzip, and the body is plain: answers 400', async () => {
    expect((await post('coded', 'gzip', body)).status).toBe(400);
  });
});

import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import protobuf from 'protobufjs/minimal.js';
import { type Case, codesOf, numbered, valuesOf } from '../../../support/field/nothing-left.ts';
import { useDevice, useTestSystem } from '../../../support/system/use.ts';

const system = useTestSystem();
const client = useDevice(system);
const now = Date.now();

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

test.each(numbered(SPARKPLUG))(
  'Sparkplug NBIRTH: %s: after the acknowledgement its values are stored, or a dead letter has the error code',
  async (_, index, payload, values, codes) => {
    await client.publish(`spBv1.0/left/NBIRTH/n${index}`, payload);
    const device = `left/n${index}`;
    expect({ values: await valuesOf(system, device), codes: await codesOf(system, device) }).toEqual({
      values,
      codes,
    });
  },
);

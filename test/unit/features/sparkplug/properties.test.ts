import { expect, test } from '@jest/globals';
import type { Writer } from 'protobufjs';
import protobuf from 'protobufjs/minimal.js';
import { decodePayload } from '../../../../api/features/sparkplug/payload.ts';

/** Wire types of protobuf. */
const [VARINT, FIXED64, BYTES] = [0, 1, 2];

function bytesOf(write: (writer: Writer) => void): Uint8Array {
  const writer = protobuf.Writer.create();
  write(writer);
  return writer.finish();
}

const text = (writer: Writer, field: number, value: string) =>
  writer.uint32((field << 3) | BYTES).string(value);

/** The value of a property: its type, and a text. */
const textValue = (value: string) =>
  bytesOf((writer) => {
    writer.uint32((1 << 3) | VARINT).uint32(12);
    text(writer, 8, value);
  });

/** Decodes a payload of one metric. @param options claimed length of the properties */
function metricWith(properties: Uint8Array, { length = properties.length }: { length?: number } = {}) {
  const metric = bytesOf((writer) => {
    text(writer, 1, 'Supply');
    writer.uint32((9 << 3) | BYTES).uint32(length);
    for (const byte of properties) writer.uint32(byte & 0x7f);
  });
  // The loop above can only write bytes below 128.
  expect(Math.max(...properties)).toBeLessThan(128);
  const payload = bytesOf((writer) => writer.uint32((2 << 3) | BYTES).bytes(metric));
  return decodePayload(Buffer.from(payload)).metrics[0];
}

const propertySet = (
  keys: string[],
  values: Uint8Array[],
  { valuesFirst = false }: { valuesFirst?: boolean } = {},
) =>
  bytesOf((writer) => {
    const writeValues = () => {
      for (const value of values) writer.uint32((2 << 3) | BYTES).bytes(value);
    };
    if (valuesFirst) writeValues();
    for (const key of keys) text(writer, 1, key);
    if (!valuesFirst) writeValues();
  });

test('Unit in Sparkplug properties: no properties, or no engUnit: the unit is null', () => {
  expect(metricWith(new Uint8Array([0x0a, 0]))?.unit).toBeNull();
  expect(metricWith(propertySet(['low', 'high'], [textValue('1'), textValue('2')]))?.unit).toBeNull();
});

test('Unit in Sparkplug properties: another value has the bytes of the key engUnit: the value of engUnit is the unit', () => {
  const values = [textValue('\n\u0007engUnit'), textValue('V')];
  expect(metricWith(propertySet(['a', 'engUnit'], values, { valuesFirst: true }))?.unit).toBe('V');
});

test('Unit in Sparkplug properties: a number before the text has bytes like a text: the text is the unit', () => {
  const value = bytesOf((writer) => {
    writer.uint32((7 << 3) | FIXED64);
    for (const byte of [0x42, 1, 0x58, 0, 0, 0, 0, 0]) writer.uint32(byte);
    text(writer, 8, 'V');
  });
  expect(metricWith(propertySet(['engUnit'], [value]))?.unit).toBe('V');
});

test('Unit in Sparkplug properties: engUnit has a number, or no value: the unit is null', () => {
  const number = bytesOf((writer) => writer.uint32((3 << 3) | VARINT).uint32(5));
  expect(metricWith(propertySet(['engUnit'], [number]))?.unit).toBeNull();
  expect(metricWith(propertySet(['a', 'engUnit'], [textValue('x')]))?.unit).toBeNull();
});

test('Unit in Sparkplug properties: properties claim to be longer than the payload: refused as malformed', () => {
  const properties = propertySet(['engUnit'], [textValue('V')]);
  expect(() => metricWith(properties, { length: properties.length + 1 })).toThrow(
    expect.objectContaining({
      code: 'malformed',
      message: 'properties are longer than their payload',
    }),
  );
});

/** @param write a metric */
const metricOf = (write: (writer: Writer) => void) =>
  decodePayload(Buffer.from(bytesOf((writer) => writer.uint32((2 << 3) | BYTES).bytes(bytesOf(write)))))
    .metrics[0];

test.each([
  ['float', 9, 1.5, (writer: Writer) => writer.uint32((12 << 3) | 5).float(1.5)],
  ['double', 10, 1.5, (writer: Writer) => writer.uint32((13 << 3) | 1).double(1.5)],
  ['boolean', 11, true, (writer: Writer) => writer.uint32(14 << 3).bool(true)],
])('Sparkplug payload: %s without a data type: the field implies type %i', (_, implied, value, write) => {
  expect(metricOf(write)).toMatchObject({ datatype: 0, implied, value });
});

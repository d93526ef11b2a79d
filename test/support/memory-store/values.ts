import type { types as DriverTypes } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { uuidBytes } from '../../../schema/ids.ts';

const { types } = cassandra;

/** A value as CQL bytes, or null. */
export type Value = Buffer | null;

/** The functions that store, read and order values of one CQL type. */
export interface ValueType {
  /** accepts the values of the driver; bytes stay unchanged */
  encode(value: unknown): Buffer;
  /** returns the value of the driver */
  decode: (bytes: Buffer) => unknown;
  compare: (a: Buffer, b: Buffer) => number;
  /** a cell for each element */
  collection?: Collection;
}

export type Element = [key: Buffer, value: Buffer];

/** A set or map that is not frozen. */
export interface Collection {
  /** of its elements */
  key: ValueType;
  /** accepts the values of the driver, and the bytes of a map */
  elements(value: unknown): Element[];
  /** returns the value of the driver; at least one element */
  decode: (elements: Element[]) => unknown;
}

/** @param size bytes @returns for signed integers */
const signed =
  (size: number): ValueType['compare'] =>
  (a, b) =>
    size === 8
      ? a.readInt32BE(0) - b.readInt32BE(0) || a.readUInt32BE(4) - b.readUInt32BE(4)
      : a.readIntBE(0, size) - b.readIntBE(0, size);

function encodeLong(number: number | string | bigint | DriverTypes.Long): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(String(number)));
  return bytes;
}

const decodeLong = (bytes: Buffer) => types.Long.fromBits(bytes.readInt32BE(4), bytes.readInt32BE(0));

/** @param size bytes */
const wholeNumber = (size: 1 | 4): ValueType => ({
  encode: (number: number) => {
    const bytes = Buffer.alloc(size);
    bytes.writeIntBE(number, 0, size);
    return bytes;
  },
  decode: (bytes) => bytes.readIntBE(0, size),
  compare: signed(size),
});

const encodeUuid = (id: unknown) =>
  typeof id === 'string' ? uuidBytes(id) : (id as DriverTypes.Uuid).getBuffer();

/** @returns the time in a version 1 UUID */
const timeOf = (bytes: Buffer): bigint =>
  (BigInt(bytes.readUInt16BE(6) & 0x0fff) << 48n) |
  (BigInt(bytes.readUInt16BE(4)) << 32n) |
  BigInt(bytes.readUInt32BE(0));

const versionOf = (bytes: Buffer) => (bytes[6] as number) >> 4;

/** a frozen collection, which is never part of a clustering key; a set of texts is in the order of their bytes */
const collection: ValueType = {
  encode: (value: object) =>
    Buffer.from(
      JSON.stringify(
        Array.isArray(value)
          ? [...new Set(value)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
          : Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
    ),
  decode: (bytes) => JSON.parse(bytes.toString()),
  compare: Buffer.compare,
};

const TYPES: Record<string, ValueType> = {
  bigint: { encode: encodeLong, decode: decodeLong, compare: signed(8) },
  blob: { encode: (bytes: Buffer) => bytes, decode: (bytes) => bytes, compare: Buffer.compare },
  boolean: {
    encode: (flag) => Buffer.from([Number(flag)]),
    decode: (bytes) => bytes[0] === 1,
    compare: Buffer.compare,
  },
  double: {
    encode: (number: number) => {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleBE(number);
      return bytes;
    },
    decode: (bytes) => bytes.readDoubleBE(),
    compare: (a, b) => a.readDoubleBE() - b.readDoubleBE(),
  },
  int: wholeNumber(4),
  text: {
    encode: (text) => Buffer.from(String(text)),
    decode: (bytes) => bytes.toString(),
    compare: Buffer.compare,
  },
  timestamp: {
    encode: (time) => encodeLong(Number(time)),
    decode: (bytes) => new Date(decodeLong(bytes).toNumber()),
    compare: signed(8),
  },
  timeuuid: {
    encode: encodeUuid,
    decode: (bytes) => new types.TimeUuid(bytes),
    compare: (a, b) => Number(timeOf(a) - timeOf(b)) || Buffer.compare(a, b),
  },
  tinyint: wholeNumber(1),
  uuid: {
    encode: encodeUuid,
    decode: (bytes) => new types.Uuid(bytes),
    compare: (a, b) => versionOf(a) - versionOf(b) || Buffer.compare(a, b),
  },
  'set<text>': collection,
  'map<text,int>': {
    ...collection,
    decode: (bytes) => Object.fromEntries(JSON.parse(bytes.toString())),
  },
};

export function valueType(name: string): ValueType {
  const compact = name.replaceAll(/\s/g, '');
  const [, elements] = /^set<(\w+)>$/.exec(compact) ?? [];
  if (elements) return { ...collection, collection: setOf(valueType(elements)) };
  const [, key, pair] = /^map<(\w+),frozen<tuple<(.*)>>>$/.exec(compact) ?? [];
  if (key && pair)
    return { ...collection, collection: mapOf(valueType(key), pair.split(',').map(valueType)) };
  const [, from, to] = /^map<(\w+),(\w+)>$/.exec(compact) ?? [];
  if (from && to) return { ...collection, collection: plainMapOf(valueType(from), valueType(to)) };
  const plain = compact.replace(/^frozen<(.*)>$/, '$1');
  const type = TYPES[plain];
  if (!type) throw new RangeError(`the database in memory has no type ${name}`);
  return type;
}

/** @param value neither null nor undefined */
export const encode = (type: ValueType, value: unknown): Buffer =>
  Buffer.isBuffer(value) ? value : type.encode(value);

const setOf = (key: ValueType): Collection => ({
  key,
  elements: (values: unknown[]) => values.map((value) => [encode(key, value), Buffer.alloc(0)]),
  decode: (elements) => elements.map(([bytes]) => key.decode(bytes)),
});

/** @param types of the tuple that is its value */
const mapOf = (key: ValueType, types: ValueType[]): Collection => ({
  key,
  elements: (value: Record<string, DriverTypes.Tuple> | Buffer) =>
    Buffer.isBuffer(value)
      ? elementsOf(value)
      : Object.entries(value).map(([name, pair]) => [encode(key, name), encodeTuple(types, pair)]),
  decode: (elements) =>
    Object.fromEntries(elements.map(([name, pair]) => [String(key.decode(name)), decodeTuple(types, pair)])),
});

const plainMapOf = (key: ValueType, type: ValueType): Collection => ({
  key,
  elements: (value: object) =>
    Buffer.isBuffer(value)
      ? elementsOf(value)
      : Object.entries(value).map(([name, element]) => [encode(key, name), encode(type, element)]),
  decode: (elements) =>
    Object.fromEntries(elements.map(([name, element]) => [String(key.decode(name)), type.decode(element)])),
});

/** @param bytes of a map, in the format of native_protocol_v4.spec */
function elementsOf(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  let offset = 4;
  const next = () => {
    const length = bytes.readInt32BE(offset);
    offset += 4 + length;
    return bytes.subarray(offset - length, offset);
  };
  for (let left = bytes.readInt32BE(0); left > 0; left--) elements.push([next(), next()]);
  return elements;
}

/** @param tuple of the driver */
const encodeTuple = (fields: ValueType[], tuple: DriverTypes.Tuple): Buffer =>
  Buffer.concat(
    fields.flatMap((type, index) => {
      const cell = encode(type, tuple.get(index));
      const length = Buffer.alloc(4);
      length.writeInt32BE(cell.length);
      return [length, cell];
    }),
  );

function decodeTuple(fields: ValueType[], bytes: Buffer) {
  let offset = 0;
  const values = fields.map((type) => {
    const length = bytes.readInt32BE(offset);
    offset += 4 + length;
    return type.decode(bytes.subarray(offset - length, offset));
  });
  return new types.Tuple(...values);
}

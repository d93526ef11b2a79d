import cassandra from 'cassandra-driver';
import { uuidBytes } from '../../../schema/ids.js';

/** @import { types as DriverTypes } from 'cassandra-driver' */

const { types } = cassandra;

/** A value as CQL bytes, or null. @typedef {Buffer | null} Value */

/**
 * The functions that store, read and order values of one CQL type.
 *
 * @typedef {object} ValueType
 * @property {(value: any) => Buffer} encode accepts the values of the driver; bytes stay unchanged
 * @property {(bytes: Buffer) => unknown} decode returns the value of the driver
 * @property {(a: Buffer, b: Buffer) => number} compare
 * @property {Collection} [collection] a cell for each element
 */

/** An element of a collection. @typedef {[key: Buffer, value: Buffer]} Element */

/**
 * A set or map that is not frozen.
 *
 * @typedef {object} Collection
 * @property {ValueType} key of its elements
 * @property {(value: any) => Element[]} elements accepts the values of the driver, and the bytes of a map
 * @property {(elements: Element[]) => unknown} decode returns the value of the driver; at least one element
 */

/** @param {number} size bytes @returns {ValueType['compare']} for signed integers */
const signed = (size) => (a, b) =>
  size === 8
    ? a.readInt32BE(0) - b.readInt32BE(0) || a.readUInt32BE(4) - b.readUInt32BE(4)
    : a.readIntBE(0, size) - b.readIntBE(0, size);

/** @param {number | string | bigint | DriverTypes.Long} number @returns {Buffer} */
function encodeLong(number) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(String(number)));
  return bytes;
}

/** @param {Buffer} bytes */
const decodeLong = (bytes) => types.Long.fromBits(bytes.readInt32BE(4), bytes.readInt32BE(0));

/** @param {1 | 4} size bytes @returns {ValueType} */
const wholeNumber = (size) => ({
  encode: (number) => {
    const bytes = Buffer.alloc(size);
    bytes.writeIntBE(number, 0, size);
    return bytes;
  },
  decode: (bytes) => bytes.readIntBE(0, size),
  compare: signed(size),
});

/** @param {unknown} id */
const encodeUuid = (id) => (typeof id === 'string' ? uuidBytes(id) : /** @type {any} */ (id).getBuffer());

/** @param {Buffer} bytes @returns {bigint} the time in a version 1 UUID */
const timeOf = (bytes) =>
  (BigInt(bytes.readUInt16BE(6) & 0x0fff) << 48n) |
  (BigInt(bytes.readUInt16BE(4)) << 32n) |
  BigInt(bytes.readUInt32BE(0));

/** @param {Buffer} bytes */
const versionOf = (bytes) => /** @type {number} */ (bytes[6]) >> 4;

/** @type {ValueType} a frozen collection, which is never part of a clustering key; a set of texts is in the order of their bytes */
const collection = {
  encode: (value) =>
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

/** @type {Record<string, ValueType>} */
const TYPES = {
  bigint: { encode: encodeLong, decode: decodeLong, compare: signed(8) },
  blob: { encode: (bytes) => bytes, decode: (bytes) => bytes, compare: Buffer.compare },
  boolean: {
    encode: (flag) => Buffer.from([Number(flag)]),
    decode: (bytes) => bytes[0] === 1,
    compare: Buffer.compare,
  },
  double: {
    encode: (number) => {
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

/** @param {string} name as in a migration @returns {ValueType} */
export function valueType(name) {
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

/** @param {ValueType} type @param {unknown} value neither null nor undefined @returns {Buffer} */
export const encode = (type, value) => (Buffer.isBuffer(value) ? value : type.encode(value));

/** @param {ValueType} key @returns {Collection} */
const setOf = (key) => ({
  key,
  elements: (values) => values.map((/** @type {unknown} */ value) => [encode(key, value), Buffer.alloc(0)]),
  decode: (elements) => elements.map(([bytes]) => key.decode(bytes)),
});

/** @param {ValueType} key @param {ValueType[]} types of the tuple that is its value @returns {Collection} */
const mapOf = (key, types) => ({
  key,
  elements: (value) =>
    Buffer.isBuffer(value)
      ? elementsOf(value)
      : Object.entries(value).map(([name, pair]) => [encode(key, name), encodeTuple(types, pair)]),
  decode: (elements) =>
    Object.fromEntries(elements.map(([name, pair]) => [String(key.decode(name)), decodeTuple(types, pair)])),
});

/** @param {ValueType} key @param {ValueType} type of its values @returns {Collection} */
const plainMapOf = (key, type) => ({
  key,
  elements: (value) =>
    Buffer.isBuffer(value)
      ? elementsOf(value)
      : Object.entries(value).map(([name, element]) => [encode(key, name), encode(type, element)]),
  decode: (elements) =>
    Object.fromEntries(elements.map(([name, element]) => [String(key.decode(name)), type.decode(element)])),
});

/** @param {Buffer} bytes of a map, in the format of native_protocol_v4.spec @returns {Element[]} */
function elementsOf(bytes) {
  /** @type {Element[]} */
  const elements = [];
  let offset = 4;
  const next = () => {
    const length = bytes.readInt32BE(offset);
    offset += 4 + length;
    return bytes.subarray(offset - length, offset);
  };
  for (let left = bytes.readInt32BE(0); left > 0; left--) elements.push([next(), next()]);
  return elements;
}

/** @param {ValueType[]} fields @param {any} tuple of the driver @returns {Buffer} */
const encodeTuple = (fields, tuple) =>
  Buffer.concat(
    fields.flatMap((type, index) => {
      const cell = encode(type, tuple.get(index));
      const length = Buffer.alloc(4);
      length.writeInt32BE(cell.length);
      return [length, cell];
    }),
  );

/** @param {ValueType[]} fields @param {Buffer} bytes */
function decodeTuple(fields, bytes) {
  let offset = 0;
  const values = fields.map((type) => {
    const length = bytes.readInt32BE(offset);
    offset += 4 + length;
    return type.decode(bytes.subarray(offset - length, offset));
  });
  return new types.Tuple(...values);
}

import { signed, unsigned } from './payload/metric.js';

/** @import { WireValue } from './payload/metric.js' */

/** Names of the data types, by their index (Sparkplug 3.0, section 6.4.16). */
const NAMES = [
  'Unknown',
  'Int8',
  'Int16',
  'Int32',
  'Int64',
  'UInt8',
  'UInt16',
  'UInt32',
  'UInt64',
  'Float',
  'Double',
  'Boolean',
  'String',
  'DateTime',
];

/** Index of the type that numbers of births have. */
export const UINT64 = 8;

/**
 * How the value of a type becomes a number; types that are none of these are texts, bytes and structures.
 *
 * Integers travel in unsigned fields of 32 or 64 bits, negative ones as two's complement. Libraries differ: -1 as an
 * Int8 is 0xff with one and 0xffffffff with another, and a UInt32 may come in the field of 64 bits. So what counts is
 * the declared type's own bits, in whichever field they come. Of 64-bit integers beyond 2^53 the nearest double is
 * stored. A DateTime is a number too: epoch milliseconds.
 *
 * @type {Map<number, (value: WireValue) => number>}
 */
const TO_NUMBER = new Map([
  [1, (value) => (low32(value) << 24) >> 24],
  [2, (value) => (low32(value) << 16) >> 16],
  [3, (value) => low32(value) | 0],
  [4, (value) => (typeof value === 'object' ? signed(value) : Number(value))],
  [5, (value) => low32(value) & 0xff],
  [6, (value) => low32(value) & 0xffff],
  [7, (value) => low32(value) >>> 0],
  [8, plain],
  [9, plain],
  [10, plain],
  [11, (value) => (plain(value) === 0 ? 0 : 1)],
  [13, plain],
]);

/** @param {WireValue} value @returns {number} its lowest 32 bits */
const low32 = (value) => (typeof value === 'object' ? value.low : Number(value));

/** @param {WireValue} value @returns {number} as its field has it: unsigned where it is an integer */
function plain(value) {
  return typeof value === 'object' ? unsigned(value) : Number(value);
}

/** @param {number} datatype @returns {boolean} whether its values can be stored */
export const isNumeric = (datatype) => TO_NUMBER.has(datatype);

/** @param {number} datatype a numeric one @returns {string} what a sensor's type is called */
export const nameOf = (datatype) => /** @type {string} */ (NAMES[datatype]);

/**
 * @param {number} datatype a numeric one
 * @param {WireValue} value
 * @returns {number}
 */
export const toNumber = (datatype, value) =>
  /** @type {(value: WireValue) => number} */ (TO_NUMBER.get(datatype))(value);

import { exactKey, unsigned } from './numbers.js';
import { readUnit } from './unit.js';

/** @typedef {import('protobufjs').Reader} Reader */

/** A value as its field carries it; integers are unsigned whatever their type is. @typedef {number | boolean | import('./numbers.js').Long} WireValue */

/**
 * @typedef {object} Metric
 * @property {string | null} name
 * @property {number | string | null} alias
 * @property {number | null} timestamp epoch ms: when the value was measured
 * @property {number} datatype index in the specification's list; 0 where it is not said
 * @property {number} implied the type that the value's field speaks for; 0 where that leaves it open
 * @property {boolean} isTransient not to be stored
 * @property {string | null} unit
 * @property {WireValue | null} value null: null on purpose, nothing, or no number
 */

// Field numbers of `Metric` (Sparkplug 3.0, section 6.4.1), each with its wire type: 0 varint, 1 and 5 fixed, 2 length.
const NAME = (1 << 3) | 2;
const ALIAS = 2 << 3;
const TIMESTAMP = 3 << 3;
const DATATYPE = 4 << 3;
const IS_TRANSIENT = 6 << 3;
const IS_NULL = 7 << 3;
const PROPERTIES = (9 << 3) | 2;
const INT = 10 << 3;
const LONG = 11 << 3;
const FLOAT = (12 << 3) | 5;
const DOUBLE = (13 << 3) | 1;
const BOOLEAN = 14 << 3;

/** Types that a field speaks for: in those of integers a negative one cannot be told from a large one. */
const IMPLIED = { float: 9, double: 10, boolean: 11 };

/**
 * Reads one metric, which begins with its length.
 *
 * @param {Reader} reader
 * @returns {Metric}
 * @throws {Error} where it is malformed
 */
export function readMetric(reader) {
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new RangeError('a metric is longer than its payload');
  /** @type {Metric} */
  const metric = {
    name: null,
    alias: null,
    timestamp: null,
    datatype: 0,
    implied: 0,
    isTransient: false,
    unit: null,
    value: null,
  };
  let isNull = false;
  while (reader.pos < end) {
    const tag = reader.tag();
    switch (tag) {
      case NAME:
        metric.name = reader.string();
        break;
      case ALIAS:
        metric.alias = exactKey(reader.uint64());
        break;
      case TIMESTAMP:
        metric.timestamp = unsigned(reader.uint64());
        break;
      case DATATYPE:
        metric.datatype = reader.uint32();
        break;
      case IS_TRANSIENT:
        metric.isTransient = reader.bool();
        break;
      case IS_NULL:
        isNull = reader.bool();
        break;
      case PROPERTIES:
        metric.unit = readUnit(reader);
        break;
      case INT:
        metric.value = reader.uint32();
        break;
      case LONG:
        metric.value = reader.uint64();
        break;
      case FLOAT:
        metric.value = reader.float();
        metric.implied = IMPLIED.float;
        break;
      case DOUBLE:
        metric.value = reader.double();
        metric.implied = IMPLIED.double;
        break;
      case BOOLEAN:
        metric.value = reader.bool();
        metric.implied = IMPLIED.boolean;
        break;
      default:
        // Texts, bytes, data sets, templates: nothing that is stored.
        reader.skipType(tag & 7, 0, tag >>> 3);
    }
  }
  if (reader.pos !== end) throw new RangeError('a field reaches beyond its metric');
  if (isNull) metric.value = null;
  return metric;
}

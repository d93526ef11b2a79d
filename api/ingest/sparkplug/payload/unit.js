/** @typedef {import('protobufjs').Reader} Reader */

// Field numbers of `PropertySet` and `PropertyValue` (Sparkplug 3.0, section 6.4.1), each a field with a length.
const KEYS = (1 << 3) | 2;
const VALUES = (2 << 3) | 2;
const STRING = (8 << 3) | 2;

/** The property under which edge nodes in the field tell a metric's unit; the specification names none. */
const UNIT = 'engUnit';

/**
 * Reads the unit out of a metric's properties: keys and values are two lists of equal length
 * (tck-id-payloads-propertyset-keys-array-size), so the unit's place is looked up first.
 *
 * @param {Reader} reader stands before the properties' length
 * @returns {string | null} null: none is told
 * @throws {Error} where they are malformed
 */
export function readUnit(reader) {
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new RangeError('properties are longer than their payload');
  const from = reader.pos;
  const place = placeOfUnit(reader, end);
  reader.pos = from;
  const unit = place < 0 ? null : textAt(reader, end, place);
  reader.pos = end;
  return unit;
}

/** @param {Reader} reader @param {number} end @returns {number} -1: there is none */
function placeOfUnit(reader, end) {
  for (let place = 0; reader.pos < end; ) {
    const tag = reader.tag();
    if (tag !== KEYS) reader.skipType(tag & 7, 0, tag >>> 3);
    else if (reader.string() === UNIT) return place;
    else place++;
  }
  return -1;
}

/** @param {Reader} reader @param {number} end @param {number} place @returns {string | null} */
function textAt(reader, end, place) {
  for (let left = place; reader.pos < end; ) {
    const tag = reader.tag();
    if (tag === VALUES && left-- === 0) return readText(reader);
    reader.skipType(tag & 7, 0, tag >>> 3);
  }
  return null;
}

/** @param {Reader} reader stands before the length of a property's value @returns {string | null} null: it is no text */
function readText(reader) {
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === STRING) return reader.string();
    reader.skipType(tag & 7, 0, tag >>> 3);
  }
  return null;
}

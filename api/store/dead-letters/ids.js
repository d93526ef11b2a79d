import cassandra from 'cassandra-driver';
import { bucketOf, DEAD_LETTER_SHARDS } from '../../../schema/rules.js';
import { int32, int64 } from '../cells.js';

const { types } = cassandra;

/** A timeuuid: version 1 (RFC 9562, section 5.1). */
const TIMEUUID = /^[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** @param {number} receivedAt epoch ms @returns {Buffer} a new letter's id, 16 bytes */
export const newLetterId = (receivedAt) => types.TimeUuid.fromDate(new Date(receivedAt)).getBuffer();

/** @param {string} text @returns {Buffer | null} 16 bytes; null: no letter is called so */
export const readLetterId = (text) =>
  TIMEUUID.test(text) ? types.TimeUuid.fromString(text).getBuffer() : null;

/** @param {Buffer} id @returns {number} epoch ms of the receipt */
export const receivedAtOf = (id) => new types.TimeUuid(id).getDate().getTime();

/** @param {Buffer} id @returns {[hour: Buffer, shard: Buffer, id: Buffer]} the primary key */
export const keyOf = (id) => [
  int64(bucketOf(receivedAtOf(id))),
  int32(Number(id.at(-1)) % DEAD_LETTER_SHARDS),
  id,
];

/** @param {number} ms epoch ms @returns {Buffer} comes before every id of this instant and after all of earlier ones */
export const firstIdOf = (ms) => types.TimeUuid.min(new Date(ms), 0).getBuffer();

/**
 * The order of the type `timeuuid`: by time, then by the other 8 bytes, each with its sign, as both servers have it
 * (Cassandra's `TimeUUIDType`, ScyllaDB's `timeuuid_tri_compare`).
 *
 * @param {Buffer} a
 * @param {Buffer} b
 * @returns {number} below 0: a is older
 */
export function compareLetterIds(a, b) {
  const timeA = ticksOf(a);
  const timeB = ticksOf(b);
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  for (let at = 8; at < 16; at++) {
    const difference = a.readInt8(at) - b.readInt8(at);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** @param {Buffer} id @returns {bigint} its 60 bits of time, in units of 100 ns */
const ticksOf = (id) =>
  (BigInt(id.readUInt16BE(6) & 0x0fff) << 48n) |
  (BigInt(id.readUInt16BE(4)) << 32n) |
  BigInt(id.readUInt32BE(0));

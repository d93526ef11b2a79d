import cassandra from 'cassandra-driver';
import { bucketOf, DEAD_LETTER_SHARDS } from '../../../schema/rules.js';
import { int32, int64 } from '../cells.js';

/** @import { Row, Session } from '../session.js' */
/** @import { Refusals } from './writes.js' */

const SELECT = {
  name: 'read_dead_letter',
  cql: 'SELECT device, topic, content_type, size, sha256, payload, codes, refused, refused_set FROM dead_letter WHERE hour = ? AND shard = ? AND id = ?',
};

/**
 * A dead letter, read back.
 *
 * @typedef {object} StoredLetter
 * @property {Buffer} id 16 bytes
 * @property {number} receivedAt epoch ms
 * @property {string | null} device as the topic has it; null for a letter that counts for several
 * @property {string} topic
 * @property {Record<string, number>} codes refused measurements by code
 * @property {StoredContent | null} content null for a letter that only counts
 */

/**
 * @typedef {object} StoredContent
 * @property {string | undefined} contentType
 * @property {number} size bytes of the whole payload
 * @property {Buffer} sha256 of the whole payload
 * @property {Buffer} payload its beginning
 * @property {Refusals} refused the first of them
 * @property {((index: number) => boolean) | null} isRefused of an element of the message; null: it was refused as a whole
 */

/**
 * @param {Session} session
 * @param {Buffer} id
 * @returns {Promise<StoredLetter | null>} null: there is none, or none any more
 */
export async function readLetter(session, id) {
  const row = await session.one(SELECT, keyOf(id));
  return row && letterOf(id, row);
}

/** @param {Buffer} id @param {Row} row @returns {StoredLetter} */
const letterOf = (id, row) => ({
  id,
  receivedAt: receivedAtOf(id),
  device: row['device'],
  topic: row['topic'],
  codes: row['codes'] ?? {},
  content:
    row['payload'] === null
      ? null
      : {
          contentType: row['content_type'] ?? undefined,
          size: row['size'],
          sha256: row['sha256'],
          payload: row['payload'],
          refused: JSON.parse(row['refused']),
          isRefused: row['refused_set'] === null ? null : elementsIn(row['refused_set']),
        },
});

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

/**
 * Which elements of a message were refused, as bits: element i is bit `i % 8`, counted from the lowest, of byte
 * `floor(i / 8)`. All 10,000 of the longest message are 1,250 bytes.
 *
 * @param {number[]} indexes from 0
 * @returns {Buffer}
 */
export function packElements(indexes) {
  const highest = indexes.reduce((most, index) => Math.max(most, index), -1);
  const bits = Buffer.alloc((highest >> 3) + 1);
  for (const index of indexes) bits[index >> 3] = Number(bits[index >> 3]) | (1 << (index & 7));
  return bits;
}

/** @param {Buffer} bits @returns {(index: number) => boolean} whether an element is among them */
export const elementsIn = (bits) => (index) => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;

import { bucketOf, DEAD_LETTER_SHARDS } from '../../../schema/rules.js';
import { int32, int64 } from '../cql-encoding.js';
import { timeOfId } from '../time-ids.js';

/** @import { Row, Session } from '../sending/session.js' */
/** @import { Refusals } from './writes.js' */

const SELECT = {
  name: 'read_dead_letter',
  cql: 'SELECT device, topic, content_type, size, sha256, payload, codes, refused, refused_set FROM dead_letter WHERE hour = ? AND shard = ? AND id = ?',
};

/**
 * A dead letter, as it is read from the database: a refused message, or a count of refused messages.
 *
 * @typedef {object} StoredDeadLetter
 * @property {Buffer} id 16 bytes
 * @property {number} receivedAt epoch ms
 * @property {string | null} device name or id of the device in the topic; null: the row counts the refusals of several devices
 * @property {string} topic
 * @property {Record<string, number>} codes number of refused measurements by error code
 * @property {StoredContent | null} content the message; null for a dead letter that only counts refusals
 */

/**
 * @typedef {object} StoredContent
 * @property {string | undefined} contentType
 * @property {number} size bytes of the whole payload
 * @property {Buffer} sha256 SHA-256 of the whole payload
 * @property {Buffer} payload the first bytes of the payload
 * @property {Refusals} refused the first refusals with their reasons, at most 100
 * @property {((index: number) => boolean) | null} isRefused returns whether the element at an index of the message was refused;
 *   null: the message was refused as a whole
 */

/**
 * @param {Session} session
 * @param {Buffer} id
 * @returns {Promise<StoredDeadLetter | null>} null: the dead letter does not exist, or has expired
 */
export async function readDeadLetter(session, id) {
  const row = await session.one(SELECT, keyOf(id));
  return row && toDeadLetter(id, row);
}

/** @param {Buffer} id @param {Row} row @returns {StoredDeadLetter} */
const toDeadLetter = (id, row) => ({
  id,
  receivedAt: timeOfId(id),
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

/** @param {Buffer} id @returns {[hour: Buffer, shard: Buffer, id: Buffer]} the primary key of the dead letter */
export const keyOf = (id) => [
  int64(bucketOf(timeOfId(id))),
  int32(Number(id.at(-1)) % DEAD_LETTER_SHARDS),
  id,
];

/**
 * Compares ids in the order of the CQL type `timeuuid`: by time, then by the other 8 bytes as signed bytes.
 * Both servers use this order (Cassandra's `TimeUUIDType`, ScyllaDB's `timeuuid_tri_compare`).
 *
 * @param {Buffer} a
 * @param {Buffer} b
 * @returns {number} below 0: `a` is older
 */
export function compareDeadLetterIds(a, b) {
  const timeA = ticksOf(a);
  const timeB = ticksOf(b);
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  for (let offset = 8; offset < 16; offset++) {
    const difference = a.readInt8(offset) - b.readInt8(offset);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** @param {Buffer} id @returns {bigint} the 60-bit time of the id, in units of 100 ns */
const ticksOf = (id) =>
  (BigInt(id.readUInt16BE(6) & 0x0fff) << 48n) |
  (BigInt(id.readUInt16BE(4)) << 32n) |
  BigInt(id.readUInt32BE(0));

/**
 * Encodes the refused elements of a message as a bit set. Element i is bit `i % 8`, counted from the lowest, of byte
 * `floor(i / 8)`. The longest message has 10,000 elements, which take 1,250 bytes.
 *
 * @param {number[]} indexes indexes of the refused elements, counted from 0
 * @returns {Buffer}
 */
export function packElements(indexes) {
  const highest = indexes.reduce((max, index) => Math.max(max, index), -1);
  const bits = Buffer.alloc((highest >> 3) + 1);
  for (const index of indexes) bits[index >> 3] = Number(bits[index >> 3]) | (1 << (index & 7));
  return bits;
}

/** Decodes a bit set of `packElements`. @param {Buffer} bits @returns {(index: number) => boolean} returns whether an element is in the set */
export const elementsIn = (bits) => (index) => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;

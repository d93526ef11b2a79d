import { bucketOf, DEAD_LETTER_SHARDS } from '../../../schema/rules.ts';
import { int32, int64 } from '../cql-encoding.ts';
import type { Row, Session } from '../sending/session.ts';
import { timeOfId } from '../time-ids.ts';
import type { Refusals } from './writes.ts';

const SELECT = {
  name: 'read_dead_letter',
  cql: 'SELECT device, topic, content_type, size, sha256, payload, codes, refused, refused_set FROM dead_letter WHERE hour = ? AND shard = ? AND id = ?',
};

/** A refused message, or a count of refused messages. */
export interface StoredDeadLetter {
  id: Buffer;
  /** epoch ms */
  receivedAt: number;
  /** name or id of the device in the topic; null: the row counts the refusals of several devices */
  device: string | null;
  topic: string;
  /** number of refused measurements by error code */
  codes: Record<string, number>;
  /** the message; null for a dead letter that only counts refusals */
  content: StoredContent | null;
}

export interface StoredContent {
  contentType: string | undefined;
  /** bytes of the whole payload */
  size: number;
  /** SHA-256 of the whole payload */
  sha256: Buffer;
  /** the first bytes of the payload */
  payload: Buffer;
  /** the first refusals with their reasons, at most 100 */
  refused: Refusals;
  /** returns whether the element at an index of the message was refused; null: the message was refused as a whole */
  isRefused: ((index: number) => boolean) | null;
}

/** @returns null: the dead letter does not exist, or has expired */
export async function readDeadLetter(session: Session, id: Buffer): Promise<StoredDeadLetter | null> {
  const row = await session.one(SELECT, keyOf(id));
  return row && toDeadLetter(id, row);
}

const toDeadLetter = (id: Buffer, row: Row): StoredDeadLetter => ({
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

export const keyOf = (id: Buffer): [hour: Buffer, shard: Buffer, id: Buffer] => [
  int64(bucketOf(timeOfId(id))),
  int32(Number(id.at(-1)) % DEAD_LETTER_SHARDS),
  id,
];

/**
 * Compares ids in the order of the CQL type `timeuuid`: by time, then by the other 8 bytes as signed bytes.
 * Both servers use this order (Cassandra's `TimeUUIDType`, ScyllaDB's `timeuuid_tri_compare`).
 */
export function compareDeadLetterIds(a: Buffer, b: Buffer): number {
  const timeA = ticksOf(a);
  const timeB = ticksOf(b);
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  for (let offset = 8; offset < 16; offset++) {
    const difference = a.readInt8(offset) - b.readInt8(offset);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** in units of 100 ns */
const ticksOf = (id: Buffer): bigint =>
  (BigInt(id.readUInt16BE(6) & 0x0fff) << 48n) |
  (BigInt(id.readUInt16BE(4)) << 32n) |
  BigInt(id.readUInt32BE(0));

/**
 * Encodes the indexes of refused elements as a bit set. Element i is bit `i % 8`, counted from the lowest, of
 * byte `floor(i / 8)`. The longest message has 10,000 elements, which take 1,250 bytes.
 */
export function packElements(indexes: number[]): Buffer {
  const highest = indexes.reduce((max, index) => Math.max(max, index), -1);
  const bits = Buffer.alloc((highest >> 3) + 1);
  for (const index of indexes) bits[index >> 3] = Number(bits[index >> 3]) | (1 << (index & 7));
  return bits;
}

export const elementsIn =
  (bits: Buffer): ((index: number) => boolean) =>
  (index) =>
    ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;

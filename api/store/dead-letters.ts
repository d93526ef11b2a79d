import { createHash } from 'node:crypto';
import type { Refusal } from '../../common/errors.ts';
import { bucketOf, DEAD_LETTER_SHARDS } from '../../schema/rules.ts';
import { int32, int64, newTimeId, parseTimeId, timeOfId } from './cql-values.ts';
import type { Row, Session } from './sending/session.ts';

/** A longer payload is cut, and cannot be replayed. */
export const KEPT_PAYLOAD_BYTES = 65_536;

/** The counts and the bit set of a dead letter include all refused measurements. */
const MAX_LISTED = 100;

const SELECT = {
  name: 'read_dead_letter',
  cql: 'SELECT device, topic, content_type, size, sha256, payload, codes, refused, refused_set, replaces FROM dead_letter WHERE hour = ? AND shard = ? AND id = ?',
};
const INSERT = {
  name: 'write_dead_letter',
  cql: 'INSERT INTO dead_letter (hour, shard, id, device, topic, content_type, size, sha256, payload, codes, refused, refused_set, replaces) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
};

export type Refusals = Refusal[];

export interface DeadLetter {
  receivedAt: number;
  /** name or id of the device in the topic; undefined: the row counts the refusals of several devices */
  device: string | undefined;
  topic: string;
  codes: Record<string, number>;
  /** the message; null for a dead letter that only counts refusals */
  content: {
    contentType: string | undefined;
    payload: Buffer;
    refused: Refusals;
    replaces?: boolean | undefined;
  } | null;
}

/** `reading`, `ingest`: sessions outside and inside the congestion window */
export function createDeadLetterStore({ reading, ingest }: { reading: Session; ingest: Session }) {
  return {
    /** @returns null: the dead letter does not exist, or has expired */
    async find(text: string): Promise<StoredDeadLetter | null> {
      const id = parseTimeId(text);
      const row = id && (await reading.one(SELECT, keyOf(id)));
      return row && toDeadLetter(id, row);
    },

    async write(deadLetter: DeadLetter, stored: StoredDeadLetter = storedForm(deadLetter)): Promise<void> {
      const { device, content } = deadLetter;
      const { id, topic, codes, content: kept } = stored;
      await ingest.write(INSERT, [
        ...keyOf(id),
        device,
        topic,
        kept?.contentType,
        kept ? int32(kept.size) : undefined,
        kept?.sha256,
        kept?.payload,
        codes,
        kept ? JSON.stringify(kept.refused) : undefined,
        content ? refusedSet(content.refused) : undefined,
        kept?.replaces || undefined,
      ]);
    },
  };
}

export type DeadLetterStore = ReturnType<typeof createDeadLetterStore>;

/** The form in which the dead letter will be read, with a new id. */
export function storedForm({ receivedAt, device, topic, codes, content }: DeadLetter): StoredDeadLetter {
  const head = { id: newTimeId(receivedAt), receivedAt, device: device ?? null, topic, codes };
  if (!content) return { ...head, content: null };
  const { contentType, payload, refused, replaces } = content;
  const set = refusedSet(refused);
  return {
    ...head,
    content: {
      contentType,
      size: payload.length,
      sha256: createHash('sha256').update(payload).digest(),
      payload: keptPart(payload),
      refused: refused.slice(0, MAX_LISTED),
      isRefused: set ? elementsIn(set) : null,
      ...(replaces && { replaces }),
    },
  };
}

/** A view, instead of a copy, would keep the whole payload in memory. */
const keptPart = (payload: Buffer) =>
  payload.length > KEPT_PAYLOAD_BYTES ? Buffer.from(payload.subarray(0, KEPT_PAYLOAD_BYTES)) : payload;

/** @returns undefined: the message was refused as a whole */
function refusedSet(refused: Refusals): Buffer | undefined {
  const indexes = refused.map(({ index }) => index);
  return indexes.includes(-1) ? undefined : packElements(indexes);
}

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
  /** its values replace stored ones */
  replaces?: boolean;
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
          ...(row['replaces'] && { replaces: true }),
        },
});

const keyOf = (id: Buffer): [hour: Buffer, shard: Buffer, id: Buffer] => [
  int64(bucketOf(timeOfId(id))),
  int32(Number(id.at(-1)) % DEAD_LETTER_SHARDS),
  id,
];

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

import { createHash } from 'node:crypto';
import type { Refusal } from '../../../common/errors.ts';
import { bucketOf, HOUR_MS } from '../../../schema/rules.ts';
import { int32 } from '../cql-encoding.ts';
import type { Session } from '../sending/session.ts';
import { newTimeId } from '../time-ids.ts';
import { elementsIn, keyOf, packElements, type StoredDeadLetter } from './dead-letter.ts';
import type { Head, Range } from './search.ts';

/** A longer payload is cut, and cannot be replayed. */
export const KEPT_PAYLOAD_BYTES = 65_536;

/** The counts and the bit set of a dead letter include all refused measurements. */
const MAX_LISTED = 100;

const INSERT = {
  name: 'write_dead_letter',
  cql: 'INSERT INTO dead_letter (hour, shard, id, device, topic, content_type, size, sha256, payload, codes, refused, refused_set) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
};

export type Refusals = Refusal[];

export interface DeadLetter {
  receivedAt: number;
  /** name or id of the device in the topic; undefined: the row counts the refusals of several devices */
  device: string | undefined;
  topic: string;
  codes: Record<string, number>;
  /** the message; null for a dead letter that only counts refusals */
  content: { contentType: string | undefined; payload: Buffer; refused: Refusals } | null;
}

export function createDeadLetterWrites(session: Session) {
  return {
    async write(deadLetter: DeadLetter, stored: StoredDeadLetter = storedForm(deadLetter)): Promise<void> {
      const { device, content } = deadLetter;
      const { id, topic, codes, content: kept } = stored;
      await session.write(INSERT, [
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
      ]);
    },
  };
}

export type DeadLetterWrites = ReturnType<typeof createDeadLetterWrites>;

/** The form in which the dead letter will be read, with a new id. */
export function storedForm({ receivedAt, device, topic, codes, content }: DeadLetter): StoredDeadLetter {
  const head = { id: newTimeId(receivedAt), receivedAt, device: device ?? null, topic, codes };
  if (!content) return { ...head, content: null };
  const { contentType, payload, refused } = content;
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

/** A summary then ends with the hour that it has just counted. Another request reads the older hours. */
const MAX_DEAD_LETTERS = 100_000;

type HourCount = { hour: number; deadLetters: number; codes: Record<string, number> };

/**
 * Counts dead letters by code and hour, newest hour first, without empty hours.
 * @param options `onHour` is called with the epoch ms of each hour before the hour is counted
 * @returns `from` is later than the start of the range if the range has more than `maxDeadLetters`
 */
export async function summarizeDeadLetters(
  scanHour: (range: Range, onHead: (head: Head) => void) => Promise<void>,
  range: Range,
  {
    onHour,
    maxDeadLetters = MAX_DEAD_LETTERS,
  }: { onHour?: (hour: number) => void; maxDeadLetters?: number } = {},
): Promise<{ hours: HourCount[]; from: number }> {
  const hours: HourCount[] = [];
  let read = 0;
  for (const part of hoursOf(range)) {
    if (read >= maxDeadLetters) return { hours, from: part.to };
    const hour = bucketOf(part.from);
    onHour?.(hour);
    const count: HourCount = { hour, deadLetters: 0, codes: {} };
    await scanHour(part, ({ codes }) => {
      count.deadLetters++;
      addCodes(count.codes, codes);
    });
    if (count.deadLetters > 0) hours.push(count);
    read += count.deadLetters;
  }
  return { hours, from: range.from };
}

/** Lazy: each part lies in one hour. */
export function* hoursOf({ from, to }: Range, first: 'newest' | 'oldest' = 'newest'): Generator<Range, void> {
  if (from >= to) return;
  const [oldest, newest] = [bucketOf(from), bucketOf(to - 1)];
  for (let done = 0; done <= newest - oldest; done += HOUR_MS) {
    const hour = first === 'newest' ? newest - done : oldest + done;
    yield { from: Math.max(from, hour), to: Math.min(to, hour + HOUR_MS) };
  }
}

export function addCodes(sum: Record<string, number>, codes: Record<string, number>) {
  for (const [code, count] of Object.entries(codes)) sum[code] = (sum[code] ?? 0) + count;
}

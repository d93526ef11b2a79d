import { bucketOf, DEAD_LETTER_SHARDS, HOUR_MS } from '../../../schema/rules.ts';
import { int32, int64 } from '../cql-encoding.ts';
import type { Row, Session } from '../sending/session.ts';
import { firstIdOf, parseTimeId, timeOfId } from '../time-ids.ts';
import { compareDeadLetterIds, readDeadLetter, type StoredDeadLetter } from './dead-letter.ts';
import { hoursOf, summarizeDeadLetters } from './writes.ts';

const SELECT_IDS = {
  name: 'dead_letter_ids',
  cql: 'SELECT id FROM dead_letter WHERE hour = ? AND shard = ? AND id >= ? AND id < ? LIMIT ?',
};
const SELECT_HEADS = {
  name: 'dead_letter_heads',
  cql: 'SELECT id, device, codes FROM dead_letter WHERE hour = ? AND shard = ? AND id >= ? AND id < ? LIMIT ?',
};

/** Limit of hours that one page reads, at 16 partitions each. 26 hours are a day, and a margin for clocks that differ. */
const MAX_HOURS_PER_PAGE = 26;

/** The first dead letter of a page may be larger. */
const MAX_BYTES_PER_PAGE = 8 * 1024 * 1024;

/** Each dead letter may have 64 KiB of payload and 64 KiB of topic. */
const CONCURRENT_READS = 16;

/** A head is a dead letter without its content. */
const HEADS_PER_REQUEST = 1000;

/** From each shard. A page has at most `MAX_HOURS_PER_PAGE` steps. */
const HEADS_PER_STEP = 250;

const SHARDS = Array.from({ length: DEAD_LETTER_SHARDS }, (_, shard) => int32(shard));

export type Range = { from: number; to: number };

export type RefusedCount = { refused: number; newest: number };

/** [first, end) */
type Slice = { first: Buffer; end: Buffer; hour: number };

/** The search has covered all ids from `reached` on. */
type Found = { ids: Buffer[]; reached: Buffer };

type Filter = { device?: string | undefined; code?: string | undefined };

export type Head = { id: Buffer; device: string | null; codes: Record<string, number> };

export function createDeadLetterReads(session: Session) {
  async function readIds({ first, end, hour }: Slice, limit: number): Promise<Found> {
    const bucket = int64(hour);
    const shards = await Promise.all(
      SHARDS.map((shard) => session.all(SELECT_IDS, [bucket, shard, first, end, int32(limit)])),
    );
    const ids = shards.flat().map((row) => row['id'].getBuffer() as Buffer);
    return newestOf(ids, first, limit);
  }

  /** One call reads a bounded number of heads, so it may not reach the start of the slice. */
  async function findIds({ first, end, hour }: Slice, limit: number, filter: Filter): Promise<Found> {
    const bucket = int64(hour);
    const shards = await Promise.all(
      SHARDS.map((shard) => session.all(SELECT_HEADS, [bucket, shard, first, end, int32(HEADS_PER_STEP)])),
    );
    const ids: Buffer[] = [];
    let reached = first;
    for (const rows of shards) {
      for (const row of rows) if (matches(row, filter)) ids.push(row['id'].getBuffer());
      if (rows.length === HEADS_PER_STEP) reached = newer(reached, rows.at(-1)?.['id'].getBuffer());
    }
    // Every shard was read as far as `reached`, so only ids from `reached` on can be returned in order. The next call reads the older ids.
    return newestOf(
      ids.filter((id) => compareDeadLetterIds(id, reached) >= 0),
      reached,
      limit,
    );
  }

  async function readShard({ from, to }: Range, shard: Buffer, onHead: (head: Head) => void) {
    const first = firstIdOf(from);
    let end = firstIdOf(to);
    for (;;) {
      const key = [int64(bucketOf(from)), shard, first, end];
      const rows = await session.all(SELECT_HEADS, [...key, int32(HEADS_PER_REQUEST)]);
      for (const row of rows) {
        onHead({ id: row['id'].getBuffer(), device: row['device'], codes: row['codes'] ?? {} });
      }
      if (rows.length < HEADS_PER_REQUEST) return;
      end = rows.at(-1)?.['id'].getBuffer();
    }
  }

  async function scanHour(range: Range, onHead: (head: Head) => void): Promise<void> {
    await Promise.all(SHARDS.map((shard) => readShard(range, shard, onHead)));
  }

  return {
    /** @returns null: the dead letter does not exist, or has expired */
    async find(text: string): Promise<StoredDeadLetter | null> {
      const id = parseTimeId(text);
      return id && readDeadLetter(session, id);
    },

    /**
     * Reads a page, newest first, across the shards of each hour. A page before the end may be short, even empty.
     * @returns `next` is null at the end
     */
    async page(
      { from, to }: Range,
      { before, limit, ...filter }: { before: Buffer | null; limit: number } & Filter,
    ): Promise<{ deadLetters: StoredDeadLetter[]; next: Buffer | null }> {
      const deadLetters: StoredDeadLetter[] = [];
      const isFiltered = filter.device !== undefined || filter.code !== undefined;
      const first = firstIdOf(from);
      let end = before ?? firstIdOf(to);
      let bytes = 0;
      for (let hours = 0; hours < MAX_HOURS_PER_PAGE && compareDeadLetterIds(first, end) < 0; hours++) {
        const hour = hourBefore(end);
        const begin = newer(first, firstIdOf(hour));
        const wanted = limit - deadLetters.length + 1;
        const slice = { first: begin, end, hour };
        const { ids, reached } = await (isFiltered ? findIds(slice, wanted, filter) : readIds(slice, wanted));
        for (let index = 0; index < ids.length; index += CONCURRENT_READS) {
          const read = await Promise.all(
            ids.slice(index, index + CONCURRENT_READS).map((id) => readDeadLetter(session, id)),
          );
          for (const deadLetter of read) {
            if (!deadLetter) continue;
            if (deadLetters.length === limit || bytes > MAX_BYTES_PER_PAGE) return { deadLetters, next: end };
            deadLetters.push(deadLetter);
            bytes += bytesOf(deadLetter);
            end = deadLetter.id;
          }
        }
        // Reading continues at `reached`, so that dead letters that expired during the read are not read again.
        end = reached;
      }
      return { deadLetters, next: compareDeadLetterIds(first, end) < 0 ? end : null };
    },

    scanHour,

    /** Counts by the device's name or id, as in its topics. Dead letters that count the refusals of several devices are left out. */
    async refusedByDevice(range: Range): Promise<Map<string, RefusedCount>> {
      const counts: Map<string, RefusedCount> = new Map();
      for (const part of hoursOf(range)) {
        await scanHour(part, ({ id, device, codes }) => {
          if (device === null) return;
          const count = counts.get(device) ?? { refused: 0, newest: 0 };
          counts.set(device, count);
          for (const refused of Object.values(codes)) count.refused += refused;
          count.newest = Math.max(count.newest, timeOfId(id));
        });
      }
      return counts;
    },

    /** See `summarizeDeadLetters`. */
    summary: (range: Range, options?: { onHour?: (hour: number) => void; maxDeadLetters?: number }) =>
      summarizeDeadLetters(scanHour, range, options),
  };
}

export type DeadLetterReads = ReturnType<typeof createDeadLetterReads>;

/** The latest hour that can contain a dead letter before `end`. */
function hourBefore(end: Buffer): number {
  const began = bucketOf(timeOfId(end));
  return compareDeadLetterIds(firstIdOf(began), end) < 0 ? began : began - HOUR_MS;
}

function newestOf(ids: Buffer[], reached: Buffer, limit: number): Found {
  const newest = ids.sort((a, b) => compareDeadLetterIds(b, a)).slice(0, limit);
  return { ids: newest, reached: newest.length < limit ? reached : (newest.at(-1) as Buffer) };
}

const matches = (row: Row, { device, code }: Filter) =>
  (device === undefined || row['device'] === device) &&
  (code === undefined || Object.hasOwn(row['codes'] ?? {}, code));

const newer = (a: Buffer, b: Buffer) => (compareDeadLetterIds(a, b) > 0 ? a : b);

const bytesOf = ({ topic, device, content }: StoredDeadLetter): number =>
  2 * topic.length + (device?.length ?? 0) + (content?.payload.length ?? 0);

import { uuidText } from '../../../schema/ids.ts';
import { bucketOf, DEAD_LETTER_SHARDS, HOUR_MS } from '../../../schema/rules.ts';
import type { StoredDeadLetter } from '../../store/dead-letters.ts';
import { firstIdOf, int32, int64, type Store, timeOfId } from '../../store/index.ts';
import type { Row, Session } from '../../store/sending/session.ts';
import { addCodes } from './codes.ts';

/** Limit of hours that one page reads, at 16 partitions each. 26 hours are a day, and a margin for clocks that differ. */
const MAX_HOURS_PER_PAGE = 26;

/** The first dead letter of a page may be larger. */
const MAX_BYTES_PER_PAGE = 8 * 1024 * 1024;

/** Each dead letter may have 64 KiB of payload and 64 KiB of topic. */
const CONCURRENT_READS = 16;

export type RefusedCount = { refused: number; newest: number };

export function createDeadLetterReads({
  session,
  deadLetters: table,
}: Pick<Store, 'session' | 'deadLetters'>) {
  const search = new DeadLetterSearch(session);
  const scanHour: DeadLetterSearch['scanHour'] = (range, onHead) => search.scanHour(range, onHead);

  return {
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
        const { ids, reached } = await (isFiltered
          ? search.findIds(slice, wanted, filter)
          : search.readIds(slice, wanted));
        for (let index = 0; index < ids.length; index += CONCURRENT_READS) {
          const read = await Promise.all(
            ids.slice(index, index + CONCURRENT_READS).map((id) => table.find(uuidText(id))),
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
    summary: (range: Range, options?: { maxDeadLetters?: number }) =>
      summarizeDeadLetters(scanHour, range, options),
  };
}

export type DeadLetterReads = ReturnType<typeof createDeadLetterReads>;

/** The latest hour that can contain a dead letter before `end`. */
function hourBefore(end: Buffer): number {
  const began = bucketOf(timeOfId(end));
  return compareDeadLetterIds(firstIdOf(began), end) < 0 ? began : began - HOUR_MS;
}

const bytesOf = ({ topic, device, content }: StoredDeadLetter): number =>
  2 * topic.length + (device?.length ?? 0) + (content?.payload.length ?? 0);

const SELECT_IDS = {
  name: 'dead_letter_ids',
  cql: 'SELECT id FROM dead_letter WHERE hour = ? AND shard = ? AND id >= ? AND id < ? LIMIT ?',
};
const SELECT_HEADS = {
  name: 'dead_letter_heads',
  cql: 'SELECT id, device, codes FROM dead_letter WHERE hour = ? AND shard = ? AND id >= ? AND id < ? LIMIT ?',
};

/** A head is a dead letter without its content. */
const HEADS_PER_REQUEST = 1000;

/** From each shard. A page has at most `MAX_HOURS_PER_PAGE` steps. */
const HEADS_PER_STEP = 250;

const SHARDS = Array.from({ length: DEAD_LETTER_SHARDS }, (_, shard) => int32(shard));

export type Range = { from: number; to: number };

/** [first, end) */
type Slice = { first: Buffer; end: Buffer; hour: number };

/** The search has covered all ids from `reached` on. */
type Found = { ids: Buffer[]; reached: Buffer };

type Filter = { device?: string | undefined; code?: string | undefined };

type Head = { id: Buffer; device: string | null; codes: Record<string, number> };

/** Finds dead letters by time, device and code, without their content. */
class DeadLetterSearch {
  #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async readIds({ first, end, hour }: Slice, limit: number): Promise<Found> {
    const bucket = int64(hour);
    const shards = await Promise.all(
      SHARDS.map((shard) => this.#session.all(SELECT_IDS, [bucket, shard, first, end, int32(limit)])),
    );
    const ids = shards.flat().map((row) => row['id'].getBuffer() as Buffer);
    return newestOf(ids, first, limit);
  }

  /** One call reads a bounded number of heads, so it may not reach the start of the slice. */
  async findIds({ first, end, hour }: Slice, limit: number, filter: Filter): Promise<Found> {
    const bucket = int64(hour);
    const shards = await Promise.all(
      SHARDS.map((shard) =>
        this.#session.all(SELECT_HEADS, [bucket, shard, first, end, int32(HEADS_PER_STEP)]),
      ),
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

  async #readShard({ from, to }: Range, shard: Buffer, onHead: (head: Head) => void) {
    const first = firstIdOf(from);
    let end = firstIdOf(to);
    for (;;) {
      const key = [int64(bucketOf(from)), shard, first, end];
      const rows = await this.#session.all(SELECT_HEADS, [...key, int32(HEADS_PER_REQUEST)]);
      for (const row of rows) {
        onHead({ id: row['id'].getBuffer(), device: row['device'], codes: row['codes'] ?? {} });
      }
      if (rows.length < HEADS_PER_REQUEST) return;
      end = rows.at(-1)?.['id'].getBuffer();
    }
  }

  async scanHour(range: Range, onHead: (head: Head) => void): Promise<void> {
    await Promise.all(SHARDS.map((shard) => this.#readShard(range, shard, onHead)));
  }
}

function newestOf(ids: Buffer[], reached: Buffer, limit: number): Found {
  const newest = ids.sort((a, b) => compareDeadLetterIds(b, a)).slice(0, limit);
  return { ids: newest, reached: newest.length < limit ? reached : (newest.at(-1) as Buffer) };
}

const matches = (row: Row, { device, code }: Filter) =>
  (device === undefined || row['device'] === device) &&
  (code === undefined || Object.hasOwn(row['codes'] ?? {}, code));

const newer = (a: Buffer, b: Buffer) => (compareDeadLetterIds(a, b) > 0 ? a : b);

/**
 * Compares ids in the order of the CQL type `timeuuid`: by time, then by the other 8 bytes as signed bytes.
 * Both servers use this order (Cassandra's `TimeUUIDType`, ScyllaDB's `timeuuid_tri_compare`).
 */
function compareDeadLetterIds(a: Buffer, b: Buffer): number {
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

/** A summary then ends with the hour that it has just counted. Another request reads the older hours. */
const MAX_DEAD_LETTERS = 100_000;

type HourCount = { hour: number; deadLetters: number; codes: Record<string, number> };

/**
 * Counts dead letters by code and hour, newest hour first, without empty hours.
 * @returns `from` is later than the start of the range if the range has more than `maxDeadLetters`
 */
async function summarizeDeadLetters(
  scanHour: (range: Range, onHead: (head: Head) => void) => Promise<void>,
  range: Range,
  { maxDeadLetters = MAX_DEAD_LETTERS }: { maxDeadLetters?: number } = {},
): Promise<{ hours: HourCount[]; from: number }> {
  const hours: HourCount[] = [];
  let read = 0;
  for (const part of hoursOf(range)) {
    if (read >= maxDeadLetters) return { hours, from: part.to };
    const hour = bucketOf(part.from);
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

/** Newest first. Lazy: each part lies in one hour. */
function* hoursOf({ from, to }: Range): Generator<Range, void> {
  if (from >= to) return;
  for (let hour = bucketOf(to - 1); hour >= bucketOf(from); hour -= HOUR_MS) {
    yield { from: Math.max(from, hour), to: Math.min(to, hour + HOUR_MS) };
  }
}

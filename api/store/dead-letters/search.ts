import { bucketOf, DEAD_LETTER_SHARDS } from '../../../schema/rules.ts';
import { int32, int64 } from '../cql-encoding.ts';
import type { Row, Session } from '../sending/session.ts';
import { firstIdOf } from '../time-ids.ts';
import { compareDeadLetterIds } from './dead-letter.ts';

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

export type Filter = { device?: string | undefined; code?: string | undefined };

export type Head = { id: Buffer; device: string | null; codes: Record<string, number> };

/** Finds dead letters by time, device and code, without their content. */
export class DeadLetterSearch {
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

export const newer = (a: Buffer, b: Buffer) => (compareDeadLetterIds(a, b) > 0 ? a : b);

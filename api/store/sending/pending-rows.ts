import { MillraceError } from '../../../common/errors.ts';
import { routingKey } from '../driver-policies.ts';
import { halvesOf, isTimeout } from './request-bounds.ts';
import type { Retry } from './retry.ts';
import type { Query, Session } from './session.ts';
import type { Replicas } from './write-merger.ts';

/** Use one object for all writes to a partition, because the cache of routing compares Buffers by identity. */
export class Partition {
  declare key: Buffer[];
  declare routing: ReturnType<typeof routingKey>;

  /** The waiting row that later messages may join. */
  open: PendingRow | null = null;
  /** The newest uncommitted row, if rows of the partition are sent one after the other. */
  last: PendingRow | null = null;

  /** The CQL encoding of the partition key's columns, in order. */
  constructor(...key: Buffer[]) {
    this.key = key;
    this.routing = routingKey(...key);
  }
}

const NOTHING = Promise.resolve();

/**
 * A row that waits to be sent, or several rows of one partition that are sent as one write. Messages may add
 * data to the row ("join" it) until `encode` closes the row.
 *
 * The properties `replicas`, `resolve` and `reject` belong to the write merger. Because they are part of the
 * row, a write needs no second object.
 * @template Message the data that a message adds to the row
 */
export class PendingRow<Message = unknown> {
  declare name: string;
  declare partition: Partition;
  declare bytes: number;

  messages = 1;
  done: Promise<void> = NOTHING;
  /** The row failed in a batch with other rows, so it is sent in a separate request. */
  isAlone = false;
  replicas: Replicas | null = null;
  resolve: () => void = ignore;
  reject: (error: unknown) => void = ignore;
  /** The smaller rows that replace this row after its request timed out. */
  parts: PendingRow[] | null = null;
  #queries: Query[] | null;

  /**
   * @param name name under which the latency is reported
   * @param bytes upper limit of the bytes that a server counts; encoding may replace it by a smaller number
   * @param queries the encoded row; then no message may join
   */
  constructor(name: string, partition: Partition, bytes: number, queries?: Query[]) {
    this.name = name;
    this.partition = partition;
    this.bytes = bytes;
    this.#queries = queries ?? null;
  }

  /** @returns false: the row has no room for the message */
  join(_message: Message): boolean {
    return false;
  }

  grow(bytes: number) {
    this.bytes += bytes;
    if (this.replicas) this.replicas.bytes += bytes;
  }

  toQueries(): Query[] {
    return [];
  }

  /** Divides a row whose request timed out. @returns empty: the row cannot be divided */
  divide(): PendingRow[] {
    const queries = this.encode();
    if (queries.length < 2) return [];
    return halvesOf(queries).map((half) => new PendingRow(this.name, this.partition, this.bytes, half));
  }

  /** True: the row may have data of the message. @param _key key of a message, such as a device */
  has(_key: unknown): boolean {
    return true;
  }

  settled(_isCommitted: boolean) {}

  /** A repeated request uses the first encoding, so it has the same bytes. */
  encode(): Query[] {
    if (this.#queries) return this.#queries;
    this.close();
    this.#queries = this.toQueries();
    return this.#queries;
  }

  close() {
    if (this.partition.open === this) this.partition.open = null;
  }
}

/**
 * Sends the rows of a table. Messages may join a row until it is sent. Under little load a row has one message, and is sent at once. The
 * busier the database, the longer rows wait. Then more messages share a row, and more rows share a request.
 *
 *     waiting     [a 12:00 | 12:00 | 12:00]  [c 12:00]  [latest: a b']   messages join the row of their partition; b' is b, and a newer b
 *     merged      [a 12:00 + latest]  [c 12:00]                          a permit is free: rows of the same replicas share a request
 *     in flight   [b 12:00]                                              one permit a request; rows of its replicas wait for its answer
 *
 * After a failed request, each of its rows is repeated in a separate request, with the same bytes. A row whose request timed out is
 * divided in halves, down to a single statement, because a request that was too large once times out again.
 */
export class PendingRows {
  #session;
  #retry;
  #isSequential;

  constructor({
    session,
    retry,
    isSequential = false,
  }: {
    session: Pick<Session, 'writeMerged'>;
    retry: Pick<Retry, 'wait' | 'noteAnswer'>;
    /**
     * Only one row of a partition is in flight at a time, while further messages join the next row (default: false). A
     * row that times out then leaves this order, and its messages wait for their parts of it: see `committed`
     */
    isSequential?: boolean;
  }) {
    this.#session = session;
    this.#retry = retry;
    this.#isSequential = isSequential;
  }

  /** Messages may join the row until it is sent. */
  open<R extends PendingRow>(row: R): R {
    const { partition } = row;
    const before = partition.last;
    partition.open = row;
    if (this.#isSequential) partition.last = row;
    row.done = before ? this.#sendAfter(row, before) : this.#send(row);
    return row;
  }

  /** @param row an encoded row, which no message may join */
  sendAlone(row: PendingRow) {
    row.isAlone = true;
    row.done = this.#send(row);
    return row.done;
  }

  #sendAfter(row: PendingRow, before: PendingRow): Promise<void> {
    const send = () => this.#send(row);
    return before.done.then(send, send);
  }

  /**
   * `then` instead of async: the first attempt of a row needs no promise of the retry, and does not keep the state of two more functions.
   */
  #send(row: PendingRow): Promise<void> {
    const written = this.#session.writeMerged(row);
    return written.then(
      () => {
        this.#retry.noteAnswer();
        this.#leave(row, true);
      },
      (error) => this.#repeat(row, error),
    );
  }

  async #repeat(row: PendingRow, error: unknown) {
    let isCommitted = false;
    let failure = error;
    try {
      for (let attempt = 0; !isCommitted; attempt++) {
        await this.#retry.wait(failure, attempt);
        if (isTimeout(failure)) row.parts = this.#divide(row);
        if (row.parts) await this.#sendParts(row.parts);
        else {
          try {
            await this.#session.writeMerged(row);
            this.#retry.noteAnswer();
          } catch (next) {
            failure = next;
            continue;
          }
        }
        isCommitted = true;
      }
    } finally {
      this.#leave(row, isCommitted);
    }
  }

  /** @returns null: the row itself is repeated */
  #divide(row: PendingRow): PendingRow[] | null {
    const parts = row.divide();
    if (parts.length > 0) return parts;
    // Later rows of the partition must not wait for a single statement that times out again and again.
    const isInOrder = this.#isSequential && !row.isAlone;
    return isInOrder ? [new PendingRow(row.name, row.partition, row.bytes, row.encode())] : null;
  }

  async #sendParts(parts: PendingRow[]) {
    for (const part of parts) {
      this.sendAlone(part).catch(ignore);
    }
    if (!this.#isSequential) await Promise.all(parts.map(({ done }) => done));
  }

  #leave(row: PendingRow, isCommitted: boolean) {
    row.close();
    if (row.partition.last === row) row.partition.last = null;
    row.settled(isCommitted);
  }
}

/** Waits for the data of one message in a sequential row, also if the row was divided meanwhile. @param key see `has` */
export async function committed(row: PendingRow, key: unknown): Promise<void> {
  await row.done;
  const parts = row.parts?.filter((part) => part.has(key)) ?? [];
  await Promise.all(parts.map((part) => committed(part, key)));
}

function ignore() {}

/** The reason may be another row of the request. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof MillraceError && error.code === 'rejected';

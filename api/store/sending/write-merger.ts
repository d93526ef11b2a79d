import { isRefusal, type PendingRow } from './pending-rows.ts';
import type { Query } from './session.ts';

/** A batch for one partition of one table has no limits, because neither Cassandra nor ScyllaDB checks its size. */
export type BatchLimits = { partitions: number; bytes: number };

/**
 * Limits above which Cassandra logs a warning by default (`unlogged_batch_across_partitions_warn_threshold`,
 * `batch_size_warn_threshold`). Cassandra refuses batches of more than 50 KiB. ScyllaDB warns above 128 KiB.
 */
export const DEFAULT_LIMITS: BatchLimits = { partitions: 10, bytes: 5 * 1024 };

/** From this number of requests in flight to the same replicas on, further rows wait for an answer of one of them. */
const BUSY_REQUESTS = 1;

/**
 * In ms. Waiting saves time, because each request costs client and server a read, a write and a wake-up, which take more time than a row.
 */
const MAX_HOLD_MS = 5;

/** After this number of rows that do not fit, the batch is sent. Without this limit, 20,000 large waiting rows cost 369 µs of CPU each. */
const MAX_MISFITS = 32;

/**
 * Permits are granted in the order of the requests. If the merger waited for one permit behind 2,000 other
 * requests, it would send one batch per round: 27 rows/s instead of 42,000.
 */
const MAX_PENDING_PERMITS = 64;

/** The nodes that store a partition, and the rows that wait to be sent to these nodes. */
export interface Replicas {
  name: string;
  rows: Set<PendingRow>;
  /** total size of `rows`, kept up to date because each tick compares it with the limit */
  bytes: number;
  /** true: the rows wait for an answer of a request in flight; false: the rows wait for a permit */
  isHeld: boolean;
  inFlight: number;
}

/**
 * Merges waiting rows with the same replica set into one unlogged batch, across devices and tables. One batch
 * replaces ten requests, or more if the database allows larger batches. Measured: a single row costs 16 µs of CPU in the
 * client and 37 µs in the database. In a batch of ten a row costs 7 and 24 µs. In an idle system a row is sent as soon as a
 * permit is free. A message's row and its row of `latest` are one request if they have the same replicas. While requests
 * are in flight, new rows for their replicas are held back until the last answer, until the rows fill a request, or for
 * 5 ms at most. So requests grow with the load, as segments of TCP do (RFC 896).
 *
 *     held              [e: nodes 5 6 7] [f: nodes 5 6 7]                                          a request to 5 6 7 is in flight
 *     waiting           [a: nodes 1 2 3] [b: nodes 2 3 4] [c: nodes 1 2 3] [d: nodes 1 2 3]
 *     a permit is free  [a c d] is sent, b is next
 *
 * Each row of a failed batch is then sent in a separate request. After the error `rejected` the merger itself sends the
 * rows again. After `unavailable` the promises of the rows reject, and the caller's retry writes the rows again.
 */
export class WriteMerger {
  #acquire;
  #release;
  #send;
  #replicasOf;
  #limits;
  #holdMs;
  #waiting: Set<PendingRow> = new Set();
  #replicas: Map<string, Replicas> = new Map();
  #held: Set<Replicas> = new Set();
  #timer: NodeJS.Timeout | null = null;
  #isScheduled = false;
  #pendingPermits = 0;

  constructor({
    acquire,
    release,
    send,
    replicasOf,
    limits = DEFAULT_LIMITS,
    holdMs = MAX_HOLD_MS,
  }: {
    /** settles when a request may be sent; undefined: it may be sent at once */
    acquire: () => Promise<void> | undefined;
    /** returns a permit that was not used */
    release: () => void;
    /** sends a request with an acquired permit, and then returns the permit */
    send: (name: string, queries: Query[], routing: Buffer) => Promise<unknown>;
    /** names the nodes that hold a partition; null: unknown, so the row is sent alone */
    replicasOf: (routing: Buffer) => string | null;
    limits?: BatchLimits;
    /** longest time for which rows wait for an answer; 0: rows never wait */
    holdMs?: number;
  }) {
    this.#acquire = acquire;
    this.#release = release;
    this.#send = send;
    this.#replicasOf = replicasOf;
    this.#limits = limits;
    this.#holdMs = holdMs;
  }

  /** Rows that wait for an answer do not count, because they show no lack of permits. */
  get waiting() {
    return this.#waiting.size;
  }

  /** @param row does not wait here yet @throws `unavailable` or `rejected` */
  write(row: PendingRow): Promise<void> {
    return new Promise((resolve, reject) => {
      row.resolve = resolve;
      row.reject = reject;
      this.#add(row);
    });
  }

  #add(row: PendingRow) {
    // A row whose size cannot be read must fail before it is queued.
    const { bytes } = row;
    const name = row.isAlone ? null : this.#replicasOf(row.partition.routing);
    const replicas = name === null ? null : this.#findReplicas(name);
    row.replicas = replicas;
    if (replicas) {
      if (replicas.rows.size === 0 && replicas.inFlight >= BUSY_REQUESTS) this.#hold(replicas);
      replicas.rows.add(row);
      replicas.bytes += bytes;
    }
    if (!replicas?.isHeld) this.#waiting.add(row);
    this.#schedule();
  }

  #findReplicas(name: string): Replicas {
    const known = this.#replicas.get(name);
    if (known) return known;
    const replicas: Replicas = { name, rows: new Set(), bytes: 0, isHeld: false, inFlight: 0 };
    this.#replicas.set(name, replicas);
    return replicas;
  }

  /** Makes the next rows wait for an answer. @param replicas without rows */
  #hold(replicas: Replicas) {
    if (this.#holdMs === 0) return;
    replicas.isHeld = true;
    this.#held.add(replicas);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      for (const each of this.#held) this.#stopHolding(each);
      this.#dispatch();
    }, this.#holdMs).unref();
  }

  #stopHolding(replicas: Replicas) {
    replicas.isHeld = false;
    this.#held.delete(replicas);
    for (const row of replicas.rows) this.#waiting.add(row);
  }

  #isFull({ rows, bytes }: Replicas): boolean {
    const limits = this.#limits;
    return rows.size >= limits.partitions || bytes >= limits.bytes;
  }

  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // The delay of one tick merges rows that one read of a socket causes: the two rows of a message, or rows of `latest`
    // that follow an answer. All microtasks of the read have ended by then.
    process.nextTick(() => {
      this.#isScheduled = false;
      for (const each of this.#held)
        if (each.inFlight < BUSY_REQUESTS || this.#isFull(each)) this.#stopHolding(each);
      this.#dispatch();
    });
  }

  #dispatch() {
    while (this.#waiting.size > this.#pendingPermits && this.#pendingPermits < MAX_PENDING_PERMITS) {
      const permit = this.#acquire();
      if (!permit) {
        this.#sendNext();
        continue;
      }
      this.#pendingPermits++;
      permit.then(
        () => {
          this.#pendingPermits--;
          this.#sendNext();
          this.#dispatch();
        },
        (error) => {
          this.#pendingPermits--;
          for (const row of this.#waiting) this.#reject(row, error);
        },
      );
    }
  }

  #sendNext() {
    const [first] = this.#waiting;
    const batch = first ? this.#gather(first) : [];
    const [leader] = batch;
    if (!leader) {
      this.#release();
      return;
    }
    const queries = batch.length === 1 ? leader.encode() : batch.flatMap((row) => row.encode());
    const { replicas } = leader;
    if (replicas) replicas.inFlight++;
    this.#send(leader.name, queries, leader.partition.routing).then(
      () => {
        if (replicas) this.#noteAnswer(replicas);
        for (const row of batch) row.resolve();
      },
      (error) => {
        if (replicas) this.#noteAnswer(replicas);
        this.#fail(batch, error);
      },
    );
  }

  #noteAnswer(replicas: Replicas) {
    replicas.inFlight--;
    if (replicas.isHeld) this.#schedule();
    else if (replicas.rows.size === 0 && replicas.inFlight === 0) this.#replicas.delete(replicas.name);
  }

  /** Empty if no row can be encoded. */
  #gather(first: PendingRow): PendingRow[] {
    const limits = this.#limits;
    const batch: PendingRow[] = [];
    const { replicas } = first;
    let bytes = this.#take(first, batch, limits.bytes);
    if (replicas === null) return batch;
    let misfits = 0;
    for (const row of replicas.rows) {
      if (batch.length >= limits.partitions || bytes >= limits.bytes || misfits >= MAX_MISFITS) break;
      const before = batch.length;
      bytes += this.#take(row, batch, limits.bytes - bytes);
      if (batch.length === before) misfits++;
    }
    return batch;
  }

  /** The first row is added even if it is too large. @param room bytes that still fit into the batch @returns bytes that were added */
  #take(row: PendingRow, batch: PendingRow[], room: number): number {
    try {
      if (row.bytes > room && batch.length > 0) return 0;
      this.#remove(row);
      row.encode();
      batch.push(row);
      // The size is read after encoding, because the row may be smaller than estimated.
      return row.bytes;
    } catch (error) {
      // A defect in the encoding of this row must not stop the other rows.
      this.#reject(row, error);
      return 0;
    }
  }

  #reject(row: PendingRow, error: unknown) {
    this.#remove(row);
    // A row that was not encoded may grow until it is added again. Without replicas its growth is not counted now, so
    // that all of its bytes are counted once when it is added again.
    row.replicas = null;
    row.reject(error);
  }

  #remove(row: PendingRow) {
    this.#waiting.delete(row);
    const { replicas } = row;
    if (replicas?.rows.delete(row)) replicas.bytes -= row.bytes;
  }

  #fail(batch: PendingRow[], error: unknown) {
    const together = batch.length > 1;
    for (const row of batch) {
      if (together) row.isAlone = true;
      // The reason of the rejection may be another row of the batch.
      if (together && isRefusal(error)) this.#add(row);
      else row.reject(error);
    }
  }
}

import { isRefusal } from './pending-rows.js';

/** @import { PendingRow } from './pending-rows.js' */
/** @import { Query } from './session.js' */

/**
 * Limits of a batch over several partitions. Neither Cassandra nor ScyllaDB checks a batch of one partition
 * of one table.
 *
 * @typedef {{ partitions: number, bytes: number }} BatchLimits
 */

/**
 * By default Cassandra logs a warning above these limits (`unlogged_batch_across_partitions_warn_threshold`,
 * `batch_size_warn_threshold`), and refuses more than 50 KiB. ScyllaDB warns of more than 128 KiB.
 *
 * @type {BatchLimits}
 */
export const DEFAULT_LIMITS = { partitions: 10, bytes: 5 * 1024 };

/**
 * Number of requests in flight to the same replicas from which rows wait for an answer. Without a request in
 * flight rows never wait.
 */
const BUSY_REQUESTS = 1;

/**
 * Longest time for which rows wait for an answer, in ms. Each request costs client and server a read, a write
 * and a wake-up, which take longer than a row.
 */
const MAX_HOLD_MS = 5;

/**
 * A batch is sent after this many writes of its replicas did not fit into it. Without a limit, 20,000 large
 * waiting writes cost 369 µs of CPU each.
 */
const MAX_MISFITS = 32;

/**
 * Limit of permits for which the merger waits at once. Permits are granted in order. With only one, 2,000
 * other requests ahead of it would allow one batch per round: 27 rows/s instead of 42,000.
 */
const MAX_PENDING_PERMITS = 64;

/**
 * A set of nodes that store a partition.
 *
 * @typedef {object} Replicas
 * @property {string} name
 * @property {Set<PendingRow<any>>} rows that are not sent yet, in order of arrival
 * @property {number} bytes of these rows together. Each tick looks at them, so they are not added up there
 * @property {boolean} isHeld whether the rows wait for an answer; false: they wait for a permit
 * @property {number} inFlight requests without an answer
 */

/**
 * Merges waiting rows with the same replica set into one unlogged batch, across devices and tables. One batch
 * replaces ten requests, or more if the database allows it. Measured: a single row costs 16 µs of CPU in the
 * client and 37 µs in the database; in a batch of ten a row costs 7 and 24 µs. In an idle system a row is
 * sent as soon as a permit is free. A message's row and its row of `latest` are one request if they have the
 * same replicas. While requests are in flight, rows of their replicas are held until the last answer, for 5
 * ms, or until they fill a request. So requests grow with the load, as segments of TCP do (RFC 896).
 *
 *     held              [e: nodes 5 6 7] [f: nodes 5 6 7]                                          a request to 5 6 7 is in flight
 *     waiting           [a: nodes 1 2 3] [b: nodes 2 3 4] [c: nodes 1 2 3] [d: nodes 1 2 3]
 *     a permit is free  [a c d] is sent, b is next
 *
 * Each row of a failed batch is then sent alone. After `rejected` the merger itself sends it again. After
 * `unavailable` its promise rejects, and the caller's retry writes it again.
 */
export class WriteMerger {
  #acquire;
  #release;
  #send;
  #replicasOf;
  #limits;
  #holdMs;
  /** Rows that wait for a permit, in order of arrival. @type {Set<PendingRow<any>>} */
  #waiting = new Set();
  /** By name. @type {Map<string, Replicas>} */
  #replicas = new Map();
  /** Replica sets whose rows are held. @type {Set<Replicas>} */
  #held = new Set();
  /** Ends the wait of all rows that are held. @type {NodeJS.Timeout | null} */
  #timer = null;
  #isScheduled = false;
  #pendingPermits = 0;

  /**
   * @param {object} parts
   * @param {() => Promise<void> | undefined} parts.acquire settles when a request may be sent; undefined: it may be sent at once
   * @param {() => void} parts.release returns a permit that was not used
   * @param {(name: string, queries: Query[], routing: Buffer) => Promise<unknown>} parts.send sends a request that has its permit, and returns the permit
   * @param {(routing: Buffer) => string | null} parts.replicasOf names the nodes that hold a partition; null:
   *   unknown, so the row is sent alone
   * @param {BatchLimits} [parts.limits]
   * @param {number} [parts.holdMs] longest time for which rows wait for an answer; 0: rows never wait
   */
  constructor({ acquire, release, send, replicasOf, limits = DEFAULT_LIMITS, holdMs = MAX_HOLD_MS }) {
    this.#acquire = acquire;
    this.#release = release;
    this.#send = send;
    this.#replicasOf = replicasOf;
    this.#limits = limits;
    this.#holdMs = holdMs;
  }

  /** Number of rows that wait for a permit. Held rows do not count, because they show no lack of permits. */
  get waiting() {
    return this.#waiting.size;
  }

  /**
   * @param {PendingRow<any>} row not waiting
   * @returns {Promise<void>} settles when the row is committed
   * @throws {MillraceError} `unavailable` or `rejected`
   */
  write(row) {
    return new Promise((resolve, reject) => {
      row.resolve = resolve;
      row.reject = reject;
      this.#add(row);
    });
  }

  /** @param {PendingRow<any>} row */
  #add(row) {
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

  /** @param {string} name @returns {Replicas} */
  #findReplicas(name) {
    const known = this.#replicas.get(name);
    if (known) return known;
    /** @type {Replicas} */
    const replicas = { name, rows: new Set(), bytes: 0, isHeld: false, inFlight: 0 };
    this.#replicas.set(name, replicas);
    return replicas;
  }

  /** @param {Replicas} replicas without rows */
  #hold(replicas) {
    if (this.#holdMs === 0) return;
    replicas.isHeld = true;
    this.#held.add(replicas);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      for (const each of this.#held) this.#stopHolding(each);
      this.#dispatch();
    }, this.#holdMs).unref();
  }

  /** Moves the rows of a replica set to the queue for permits. @param {Replicas} replicas */
  #stopHolding(replicas) {
    replicas.isHeld = false;
    this.#held.delete(replicas);
    for (const row of replicas.rows) this.#waiting.add(row);
  }

  /** @param {Replicas} replicas @returns {boolean} whether its rows fill a request */
  #isFull({ rows, bytes }) {
    const limits = this.#limits;
    return rows.size >= limits.partitions || bytes >= limits.bytes;
  }

  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // The delay merges rows of one read, such as the two of a message, and rows of `latest` that begin after
    // an answer. It is one tick, because all microtasks of the read end before it.
    process.nextTick(() => {
      this.#isScheduled = false;
      for (const each of this.#held)
        if (each.inFlight < BUSY_REQUESTS || this.#isFull(each)) this.#stopHolding(each);
      this.#dispatch();
    });
  }

  /** Acquires permits while more rows wait than permits are pending. */
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

  /** @param {Replicas} replicas of a request that was answered, or that failed */
  #noteAnswer(replicas) {
    replicas.inFlight--;
    if (replicas.isHeld) this.#schedule();
    else if (replicas.rows.size === 0 && replicas.inFlight === 0) this.#replicas.delete(replicas.name);
  }

  /**
   * @param {PendingRow<any>} first
   * @returns {PendingRow<any>[]} the row and others of the same replicas, as far as they fit; empty if no row can be encoded
   */
  #gather(first) {
    const limits = this.#limits;
    /** @type {PendingRow<any>[]} */
    const batch = [];
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

  /**
   * @param {PendingRow<any>} row
   * @param {PendingRow<any>[]} batch whose first row may be larger than the room
   * @param {number} room bytes
   * @returns {number} bytes that were added
   */
  #take(row, batch, room) {
    try {
      if (row.bytes > room && batch.length > 0) return 0;
      this.#remove(row);
      row.encode();
      batch.push(row);
      // The size is read after encoding, because the row may be smaller than estimated.
      return row.bytes;
    } catch (error) {
      // A defect in the encoding of this row must not stop the others.
      this.#reject(row, error);
      return 0;
    }
  }

  /** @param {PendingRow<any>} row @param {unknown} error */
  #reject(row, error) {
    this.#remove(row);
    // Messages may join a row that was not encoded until it is added again, and then its bytes count once.
    row.replicas = null;
    row.reject(error);
  }

  /** @param {PendingRow<any>} row that waits for a permit */
  #remove(row) {
    this.#waiting.delete(row);
    const { replicas } = row;
    if (replicas?.rows.delete(row)) replicas.bytes -= row.bytes;
  }

  /** @param {PendingRow<any>[]} batch @param {unknown} error */
  #fail(batch, error) {
    const together = batch.length > 1;
    for (const row of batch) {
      if (together) row.isAlone = true;
      // The reason of the rejection may be another row of the batch.
      if (together && isRefusal(error)) this.#add(row);
      else row.reject(error);
    }
  }
}

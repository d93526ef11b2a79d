import { MillraceError } from '../../../common/errors.js';

/** @import { Query } from './session.js' */

/** Partitions in one batch: Cassandra warns of more (`unlogged_batch_across_partitions_warn_threshold`). */
const MAX_PARTITIONS = 10;

/**
 * Bytes in one batch of several partitions. Cassandra warns of more than 5 KiB and refuses more than 50 KiB; ScyllaDB warns of more
 * than 128 KiB. Neither looks at a batch of one partition of one table.
 */
const MAX_BYTES = 5 * 1024;

/** Writes of the same replicas that are tried for one batch. Without a limit, 20,000 large waiting writes cost 369 µs of CPU each. */
const MAX_TRIED = 32;

/**
 * Permits that the merger waits for at once. Permits are granted in order. With one, 2,000 other requests in front of it let one batch
 * pass in each round: 27 rows/s instead of 42,000.
 */
const MAX_PENDING_PERMITS = 64;

/**
 * Rows of one partition that are to be written.
 *
 * @typedef {object} Write
 * @property {string} name under which its latency is reported
 * @property {Buffer} routing key of its partition
 * @property {() => Query[]} take asked for the rows at the moment of sending, so that they can grow until then; asked again for the same rows where the request is repeated
 * @property {() => number} bytes of these rows, more or less
 * @property {object} id the same object each time that this write is repeated
 */

/**
 * @typedef {object} Waiting
 * @property {Write} write
 * @property {string | null} replicas
 * @property {() => void} resolve
 * @property {(error: unknown) => void} reject
 */

/** @typedef {{ waiting: Waiting, queries: Query[] }} Member of a batch */

/**
 * Merges waiting writes with the same replica set into one unlogged batch, across devices and tables. One batch replaces up to ten
 * requests. Measured: a single row costs 16 µs of CPU in the client and 37 µs in the database; in a batch of ten a row costs 7 and
 * 24 µs. No write is delayed to fill a batch: it is sent as soon as a permit is free. In an idle system a message's row and its row of
 * `latest` are one request if they have the same replicas.
 *
 *     waiting           [a: nodes 1 2 3] [b: nodes 2 3 4] [c: nodes 1 2 3] [d: nodes 1 2 3]
 *     a permit is free  [a c d] is sent, b is next
 *
 * Each write of a failed batch is sent alone the next time. After `rejected` the merger sends it again itself. After `unavailable` its
 * promise rejects, and the caller's retry writes it again.
 */
export class WriteMerger {
  #acquire;
  #release;
  #send;
  #replicasOf;
  /** In order of arrival. @type {Set<Waiting>} */
  #waiting = new Set();
  /** By replicas, in order of arrival. @type {Map<string, Set<Waiting>>} */
  #byReplicas = new Map();
  /** Ids of writes that failed together with others. @type {WeakSet<object>} */
  #alone = new WeakSet();
  #isScheduled = false;
  #pendingPermits = 0;

  /**
   * @param {object} parts
   * @param {() => Promise<void> | undefined} parts.acquire settles when a request may be sent; undefined: it may be sent at once
   * @param {() => void} parts.release returns a permit that was not used
   * @param {(name: string, queries: Query[], routing: Buffer) => Promise<unknown>} parts.send sends a request that has its permit, and returns the permit
   * @param {(routing: Buffer) => string | null} parts.replicasOf names the nodes that hold a partition; null: unknown, so the write leaves alone
   */
  constructor({ acquire, release, send, replicasOf }) {
    this.#acquire = acquire;
    this.#release = release;
    this.#send = send;
    this.#replicasOf = replicasOf;
  }

  /** Writes that wait for a permit. */
  get waiting() {
    return this.#waiting.size;
  }

  /**
   * @param {Write} write
   * @returns {Promise<void>} settles when it is committed
   * @throws {MillraceError} `unavailable` or `rejected`
   */
  write(write) {
    return new Promise((resolve, reject) => {
      const replicas = this.#alone.has(write.id) ? null : this.#replicasOf(write.routing);
      const waiting = { write, replicas, resolve: () => resolve(undefined), reject };
      this.#waiting.add(waiting);
      if (replicas !== null) {
        const others = this.#byReplicas.get(replicas);
        if (others) others.add(waiting);
        else this.#byReplicas.set(replicas, new Set([waiting]));
      }
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      // Writes of the same event loop iteration, such as the two rows of a message, are merged.
      queueMicrotask(() => this.#dispatch());
    });
  }

  /** Asks for permits as long as writes wait that no pending permit is for. */
  #dispatch() {
    this.#isScheduled = false;
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
          for (const waiting of this.#waiting) this.#reject(waiting, error);
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
    const { name, routing } = leader.waiting.write;
    const queries = batch.length === 1 ? leader.queries : batch.flatMap((member) => member.queries);
    this.#send(name, queries, routing).then(
      () => {
        for (const { waiting } of batch) waiting.resolve();
      },
      (error) => this.#fail(batch, error),
    );
  }

  /**
   * @param {Waiting} first
   * @returns {Member[]} it, and others of the same replicas as far as they fit; none where its rows cannot be made
   */
  #gather(first) {
    /** @type {Member[]} */
    const batch = [];
    let bytes = this.#take(first, batch, MAX_BYTES);
    if (first.replicas === null) return batch;
    let tried = 0;
    for (const waiting of this.#byReplicas.get(first.replicas) ?? []) {
      if (batch.length >= MAX_PARTITIONS || bytes >= MAX_BYTES || tried++ >= MAX_TRIED) break;
      bytes += this.#take(waiting, batch, MAX_BYTES - bytes);
    }
    return batch;
  }

  /** @param {Waiting} waiting @param {Member[]} batch whose first member may be larger than the room @param {number} room bytes @returns {number} bytes that it took */
  #take(waiting, batch, room) {
    try {
      const bytes = waiting.write.bytes();
      if (bytes > room && batch.length > 0) return 0;
      this.#remove(waiting);
      batch.push({ waiting, queries: waiting.write.take() });
      return bytes;
    } catch (error) {
      // A defect in encoding these rows must not stop the others.
      this.#reject(waiting, error);
      return 0;
    }
  }

  /** @param {Waiting} waiting @param {unknown} error */
  #reject(waiting, error) {
    this.#remove(waiting);
    waiting.reject(error);
  }

  /** @param {Waiting} waiting */
  #remove(waiting) {
    this.#waiting.delete(waiting);
    const { replicas } = waiting;
    if (replicas === null) return;
    const others = this.#byReplicas.get(replicas);
    others?.delete(waiting);
    if (others?.size === 0) this.#byReplicas.delete(replicas);
  }

  /** @param {Member[]} batch @param {unknown} error */
  #fail(batch, error) {
    const together = batch.length > 1;
    for (const { waiting } of batch) {
      if (together) this.#alone.add(waiting.write.id);
      // The rejected write may be another one of the batch.
      if (together && error instanceof MillraceError && error.code === 'rejected')
        this.write(waiting.write).then(waiting.resolve, waiting.reject);
      else waiting.reject(error);
    }
  }
}

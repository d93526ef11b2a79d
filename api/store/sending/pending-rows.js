import { MillraceError } from '../../../common/errors.js';
import { routingKey } from './routing.js';

/** @import { Retry } from './retry.js' */
/** @import { Query, Session } from './session.js' */
/** @import { Replicas } from './write-merger.js' */

/**
 * A partition of a table. Keep the object for further writes to the partition, because routing compares
 * Buffers by identity.
 */
export class Partition {
  /** The row that later messages may join. @type {PendingRow<any> | null} */
  open = null;
  /** The last row that is not committed, if rows of the partition are sent one after the other. @type {PendingRow<any> | null} */
  last = null;

  /** @param {Buffer[]} key the CQL encoding of the partition key's columns, in order */
  constructor(...key) {
    this.key = key;
    this.routing = routingKey(...key);
  }
}

const NOTHING = Promise.resolve();

/**
 * A row that waits to be sent, or several rows of one partition that are sent as one write. Messages join it
 * until `encode` closes it.
 *
 * The merger keeps its own state of a waiting row in `replicas`, `resolve` and `reject`. So a write needs no second object.
 *
 * @template Message what a message adds to the row
 */
export class PendingRow {
  /** Number of messages in the row. */
  messages = 1;
  /** Settles when the row is committed. @type {Promise<void>} */
  done = NOTHING;
  /** Whether the row is sent in a separate request, because it failed together with others. */
  isAlone = false;
  /** @type {Replicas | null} */
  replicas = null;
  /** @type {() => void} */
  resolve = ignore;
  /** @type {(error: unknown) => void} */
  reject = ignore;
  /** @type {Query[] | null} */
  #queries;

  /**
   * @param {string} name under which the latency of the request is reported
   * @param {Partition} partition
   * @param {number} bytes upper limit of the bytes that a server counts for the row. Encoding may replace it
   *   by a smaller number
   * @param {Query[]} [queries] encoded row, which no message may join
   */
  constructor(name, partition, bytes, queries) {
    this.name = name;
    this.partition = partition;
    this.bytes = bytes;
    this.#queries = queries ?? null;
  }

  /** Adds a message. @param {Message} _message @returns {boolean} false: the row has no room for it */
  join(_message) {
    return false;
  }

  /** Counts bytes that a message adds to the row. @param {number} bytes */
  grow(bytes) {
    this.bytes += bytes;
    if (this.replicas) this.replicas.bytes += bytes;
  }

  /** Encodes the messages. @returns {Query[]} */
  toQueries() {
    return [];
  }

  /** Called when the row was sent for the last time. @param {boolean} _isCommitted */
  settled(_isCommitted) {}

  /**
   * Encodes the row at the moment of sending, and closes it. A repeated request has the same bytes and write timestamps.
   *
   * @returns {Query[]}
   */
  encode() {
    if (this.#queries) return this.#queries;
    this.close();
    this.#queries = this.toQueries();
    return this.#queries;
  }

  /** Lets no further message join. */
  close() {
    if (this.partition.open === this) this.partition.open = null;
  }
}

/**
 * Sends the rows of a table. A row accepts messages until it is sent. Under little load a row has one
 * message, and is sent at once. The busier the database, the more messages share a row, and the more rows
 * share a request.
 *
 *     waiting     [a 12:00 | 12:00 | 12:00]  [c 12:00]  [latest: a b']   messages join the row of their partition; b' is b, and a newer b
 *     merged      [a 12:00 + latest]  [c 12:00]                          a permit is free: rows of the same replicas share a request
 *     in flight   [b 12:00]                                              one permit a request; rows of its replicas wait for its answer
 *
 * A failed request is repeated: each of its rows alone, with the same bytes.
 */
export class PendingRows {
  #session;
  #retry;
  #isSequential;

  /**
   * @param {object} deps
   * @param {Pick<Session, 'writeMerged'>} deps.session
   * @param {Pick<Retry, 'repeat' | 'noteAnswer'>} deps.retry
   * @param {boolean} [deps.isSequential] whether only one row of a partition is in flight at a time, and
   *   further messages share the next row (default: false)
   */
  constructor({ session, retry, isSequential = false }) {
    this.#session = session;
    this.#retry = retry;
    this.#isSequential = isSequential;
  }

  /**
   * Sends a row that messages may join until it is sent.
   *
   * @template {PendingRow<any>} R
   * @param {R} row
   * @returns {R}
   */
  open(row) {
    const { partition } = row;
    const before = partition.last;
    partition.open = row;
    if (this.#isSequential) partition.last = row;
    row.done = before ? this.#sendAfter(row, before) : this.#send(row);
    return row;
  }

  /** Sends a row in a separate request. @param {PendingRow<any>} row that no message may join */
  sendAlone(row) {
    row.isAlone = true;
    return this.#send(row);
  }

  /** @param {PendingRow<any>} row @param {PendingRow<any>} before that is committed first @returns {Promise<void>} */
  #sendAfter(row, before) {
    const send = () => this.#send(row);
    return before.done.then(send, send);
  }

  /**
   * Uses `then` and not async, because the first attempt of a row needs neither a promise of the retry nor
   * the state of two more functions.
   *
   * @param {PendingRow<any>} row
   * @returns {Promise<void>} settles when it is committed
   */
  #send(row) {
    const written = this.#session.writeMerged(row);
    return written.then(
      () => {
        this.#retry.noteAnswer();
        this.#leave(row, true);
      },
      (error) => this.#repeat(row, error),
    );
  }

  /** @param {PendingRow<any>} row @param {unknown} error of its first attempt */
  async #repeat(row, error) {
    let isCommitted = false;
    try {
      await this.#retry.repeat(() => this.#session.writeMerged(row), error);
      isCommitted = true;
    } finally {
      this.#leave(row, isCommitted);
    }
  }

  /** @param {PendingRow<any>} row that was sent for the last time @param {boolean} isCommitted */
  #leave(row, isCommitted) {
    row.close();
    if (row.partition.last === row) row.partition.last = null;
    row.settled(isCommitted);
  }
}

function ignore() {}

/**
 * @param {unknown} error
 * @returns {boolean} whether the database refuses the rows of a request, possibly because of another row
 */
export const isRefusal = (error) => error instanceof MillraceError && error.code === 'rejected';

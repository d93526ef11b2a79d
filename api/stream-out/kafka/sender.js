import { setTimeout as sleep } from 'node:timers/promises';
import { Producer } from '@platformatic/kafka';
import { LogThrottle } from '../../../common/log-throttle.js';

/** @import { BaseOptions } from '@platformatic/kafka' */
/** @import { Logger } from 'pino' */

/**
 * A record to send. The same key always goes to the same partition.
 *
 * @typedef {{ topic: string, key: Buffer, value: Buffer, headers: Map<Buffer, Buffer> }} OutRecord
 */

/** Bytes of one request: Kafka refuses a batch of more than 1 MiB by default, and all records may be of one partition. */
export const MAX_REQUEST_BYTES = 900_000;

/** Pauses between attempts, in ms. */
const PAUSE_MS = { first: 100, longest: 4000 };

const REPORT_EVERY_MS = 10_000;

/** Bytes of a record besides its value: key, headers, lengths. */
const RECORD_BYTES = 200;

/** Kafka's errors of one topic: others still take records. By code, of the table of error codes in Kafka's protocol guide. */
const REFUSALS = [
  3, // UNKNOWN_TOPIC_OR_PARTITION
  10, // MESSAGE_TOO_LARGE
  17, // INVALID_TOPIC_EXCEPTION
  18, // RECORD_LIST_TOO_LARGE
  29, // TOPIC_AUTHORIZATION_FAILED
  44, // POLICY_VIOLATION
  87, // INVALID_RECORD
  100, // UNKNOWN_TOPIC_ID
];

/** A topic does not take records, and others may. */
export class TopicRefused extends Error {
  /** @param {string} topic @param {string} reason */
  constructor(topic, reason) {
    super(`${topic}: ${reason}`);
    this.name = 'TopicRefused';
    this.topic = topic;
  }
}

/** Limits the log lines of all senders of a process together. */
export const createSenderThrottle = () =>
  new LogThrottle({ everyMs: REPORT_EVERY_MS, clock: () => performance.now() });

/**
 * Sends records with an idempotent producer (`acks=all`), one request at a time, and repeats each until Kafka has it. So the order of
 * records with the same key is the order of sending. The producer counts the records of a request only when it is answered: of two
 * requests at once, Kafka would take the second for a repetition of the first, and drop it with success. After a failure a new client
 * begins, because the sequence numbers of the old one are uncertain: Kafka may then have the records of that request twice.
 */
export class KafkaSender {
  #options;
  #logger;
  #onSent;
  #onFailure;
  #throttle;
  #waitsForTopics;
  /** @type {Producer | null} */
  #producer = null;
  #stopping = new AbortController();
  /** Settles when the requests before have ended. @type {Promise<unknown>} */
  #turn = Promise.resolve();
  /** ms of `performance.now()` since which requests fail; 0: the last one succeeded. */
  #failingSince = 0;

  /**
   * @param {object} deps
   * @param {BaseOptions} deps.options
   * @param {Logger} deps.logger
   * @param {(records: OutRecord[]) => void} deps.onSent
   * @param {() => void} deps.onFailure
   * @param {LogThrottle} [deps.throttle] shared by several senders; default: its own
   * @param {boolean} [deps.waitsForTopics] whether records of a topic that Kafka refuses are repeated too; default: true
   */
  constructor({
    options,
    logger,
    onSent,
    onFailure,
    throttle = createSenderThrottle(),
    waitsForTopics = true,
  }) {
    this.#options = options;
    this.#logger = logger;
    this.#onSent = onSent;
    this.#onFailure = onFailure;
    this.#throttle = throttle;
    this.#waitsForTopics = waitsForTopics;
  }

  /**
   * @param {OutRecord[]} records of one topic, and of MAX_REQUEST_BYTES together, unless it is one
   * @returns {Promise<boolean>} settles when Kafka has them; false: this process ends before
   * @throws {TopicRefused} unless the sender waits for topics
   */
  send(records) {
    const sent = this.#turn.then(() => this.#sendNow(records));
    this.#turn = sent.catch(() => {});
    return sent;
  }

  /** @param {OutRecord[]} records @returns {Promise<boolean>} */
  async #sendNow(records) {
    for (let attempt = 0; !this.#stopping.signal.aborted; attempt++) {
      try {
        this.#producer ??= new Producer({ ...this.#options, idempotent: true, retries: 2, retryDelay: 100 });
        await this.#producer.send({ messages: records });
        if (this.#failingSince) this.#logger.info({ topic: records[0]?.topic }, 'Kafka takes records again');
        this.#failingSince = 0;
        this.#onSent(records);
        return true;
      } catch (error) {
        const refusal = refusalOf(error, records[0]?.topic ?? '');
        await this.#fail(error, refusal);
        if (refusal && !this.#waitsForTopics) throw refusal;
        await this.#pause(attempt);
      }
    }
    return false;
  }

  /** Why requests fail. @returns {number} ms since they do; 0: they do not */
  get failingForMs() {
    return this.#failingSince ? performance.now() - this.#failingSince : 0;
  }

  /** Ends repeating, and closes the connection. */
  async stop() {
    this.#stopping.abort();
    await this.#close();
  }

  /** @param {unknown} error @param {TopicRefused | null} refusal */
  async #fail(error, refusal) {
    this.#failingSince ||= performance.now();
    this.#onFailure();
    if (this.#throttle.count(refusal?.topic ?? 'failed') > 0 && !this.#stopping.signal.aborted) {
      const reason = reasonOf(error);
      if (refusal)
        this.#logger.warn({ topic: refusal.topic, reason }, 'Kafka refuses a topic; the others go on');
      else this.#logger.warn({ reason }, 'Kafka does not take records; waiting for it');
    }
    await this.#close();
  }

  /** @param {number} attempt */
  async #pause(attempt) {
    const longest = Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** Math.min(attempt, 10));
    const { signal } = this.#stopping;
    await sleep(longest * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
  }

  async #close() {
    const producer = this.#producer;
    this.#producer = null;
    // A connection that is broken already cannot be closed in an orderly way.
    if (producer) await producer.close().catch(() => {});
  }
}

/** @param {unknown} error @returns {string} with the innermost reasons, which the client wraps, and the remedy of a missing topic */
function reasonOf(error) {
  const reason = innermostReasons(error);
  // The client names the topic, but nothing else.
  return reason.includes('Unknown topic') ? `${reason} Run: npm run stream -- init` : reason;
}

/** @param {unknown} error @returns {string} */
function innermostReasons(error) {
  const inner = error instanceof AggregateError ? error.errors.map(innermostReasons) : [];
  return [...new Set([error instanceof Error ? error.message : String(error), ...inner])]
    .join(': ')
    .slice(0, 300);
}

/** @param {any} error @param {string} topic @returns {TopicRefused | null} null: it is not about this topic */
function refusalOf(error, topic) {
  const isMissing = innermostReasons(error).includes(`Unknown topic ${topic}`);
  const isRefused = REFUSALS.some((code) => error?.findBy?.('apiCode', code));
  return isMissing || isRefused ? new TopicRefused(topic, reasonOf(error)) : null;
}

/**
 * Divides records into requests.
 *
 * @template {{ value: Buffer }} R
 * @param {R[]} records
 * @returns {Generator<R[], void>} each of MAX_REQUEST_BYTES at most, unless it is one record
 */
export function* chunks(records) {
  let from = 0;
  let bytes = 0;
  for (const [index, { value }] of records.entries()) {
    const size = value.length + RECORD_BYTES;
    if (bytes + size > MAX_REQUEST_BYTES && index > from) {
      yield records.slice(from, index);
      from = index;
      bytes = 0;
    }
    bytes += size;
  }
  if (from < records.length) yield records.slice(from);
}

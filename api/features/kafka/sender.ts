import { setTimeout as sleep } from 'node:timers/promises';
import { type BaseOptions, type GenericError, Producer } from '@platformatic/kafka';
import type { Logger } from 'pino';
import { LogThrottle } from '../../../common/log-throttle.ts';
import { TopicRefused } from '../../../schema/kafka/index.ts';

/**
 * The same key always goes to the same partition. `partition`: hash of the key, of which the producer takes the remainder by the number of
 * partitions; without it the producer computes the hash. Without `value` it is a tombstone.
 */
export type OutRecord = {
  topic: string;
  key: Buffer;
  value: Buffer | undefined;
  headers: Map<Buffer, Buffer>;
  partition?: number;
};

/** In bytes. By default Kafka refuses a batch of more than 1 MiB, and all records may belong to one partition. */
export const MAX_REQUEST_BYTES = 900_000;

/** Pause in ms between attempts to send a request. */
const PAUSE_MS = { first: 100, longest: 4000 };

const REPORT_EVERY_MS = 10_000;

/** Bytes of a record in addition to its value: key, headers, lengths. */
const RECORD_BYTES = 200;

/** MESSAGE_TOO_LARGE and RECORD_LIST_TOO_LARGE. */
const TOO_LARGE = [10, 18];

/** Errors that concern a single topic, while other topics accept records (Kafka protocol guide, "Error Codes"). */
const REFUSALS = [
  3, // UNKNOWN_TOPIC_OR_PARTITION
  ...TOO_LARGE,
  17, // INVALID_TOPIC_EXCEPTION
  29, // TOPIC_AUTHORIZATION_FAILED
  44, // POLICY_VIOLATION
  87, // INVALID_RECORD
  100, // UNKNOWN_TOPIC_ID
];

/**
 * Records that Kafka does not have yet, in order. `size`: records in the next request. After a failure each part has the records of one
 * key. Keys whose records Kafka accepts are joined into one part again.
 */
type Part = { records: OutRecord[]; size: number; hasFailed?: boolean };

/** For the log lines of all senders of a process together. */
export const createSenderThrottle = () =>
  new LogThrottle({ everyMs: REPORT_EVERY_MS, clock: () => performance.now() });

/**
 * Sends records with an idempotent producer (`acks=all`), one request at a time, and repeats a request until Kafka has its records. So
 * records with the same key arrive in the order of sending. The producer counts the records of a request only when the request is answered.
 * Kafka would treat the second of two concurrent requests as a repetition of the first, and drop it with success. After a failure a new
 * client begins, because the sequence numbers of the old client are uncertain. Kafka may then have the records of that request twice. One
 * partition of a request may refuse it. So after a failure the records of each key are sent separately, in order, and the keys of other
 * partitions are not sent again and again. Keys whose records Kafka accepts are joined into larger requests again: 2, 4, 8 keys and so on.
 */
export class KafkaSender {
  #createProducer;
  #logger;
  #onSent;
  #onFailure;
  #throttle;
  #waitsForTopics;
  #producer: Pick<Producer, 'send' | 'close'> | null = null;
  #stopping = new AbortController();
  #turn: Promise<unknown> = Promise.resolve();
  /** By `performance.now()`; 0: Kafka accepted all records of the last call. */
  #failingSince = 0;

  constructor({
    options,
    logger,
    onSent,
    onFailure,
    throttle = createSenderThrottle(),
    waitsForTopics = true,
    createProducer = () => new Producer({ ...options, idempotent: true, retries: 2, retryDelay: 100 }),
  }: {
    options: BaseOptions;
    logger: Logger;
    /** gets records of one topic that Kafka has taken */
    onSent: (records: OutRecord[]) => void;
    onFailure: () => void;
    /** several senders may share it */
    throttle?: LogThrottle;
    /** repeats records of a topic that Kafka refuses, too */
    waitsForTopics?: boolean;
    createProducer?: () => Pick<Producer, 'send' | 'close'>;
  }) {
    this.#createProducer = createProducer;
    this.#logger = logger;
    this.#onSent = onSent;
    this.#onFailure = onFailure;
    this.#throttle = throttle;
    this.#waitsForTopics = waitsForTopics;
  }

  /**
   * Resolves when Kafka has the records; false: this process ends first. All records are of one topic, with at most
   * MAX_REQUEST_BYTES unless there is only one record.
   * @throws `TopicRefused` unless the sender waits for topics
   */
  send(records: OutRecord[]): Promise<boolean> {
    const sent = this.#turn.then(() => this.#sendNow(records));
    this.#turn = sent.catch(() => {});
    return sent;
  }

  async #sendNow(records: OutRecord[]): Promise<boolean> {
    const topic = records[0]?.topic ?? '';
    const parts: Part[] = [{ records, size: records.length }];
    let failures = 0;
    /** 2, 4, 8 and so on. After a failure no keys are joined. */
    let together = 1;
    for (let part = parts[0]; part; part = parts[0]) {
      if (this.#stopping.signal.aborted) return false;
      const request = part.records.slice(0, part.size);
      try {
        this.#producer ??= this.#createProducer();
        await this.#producer.send({ messages: request });
        this.#onSent(request);
        failures = 0;
        part.records = part.records.slice(request.length);
        if (part.records.length === 0) {
          parts.shift();
          together *= 2;
          joinFirst(parts, together);
        }
      } catch (error) {
        const isTooLarge = request.length > 1 && hasCode(error, TOO_LARGE);
        together = 1;
        divideFirst(parts, isTooLarge);
        if (isTooLarge) await this.#close();
        else {
          await this.#fail(error, topic);
          await this.#pause(failures++);
        }
      }
    }
    if (this.#failingSince) this.#logger.info({ topic }, 'Kafka takes records again');
    this.#failingSince = 0;
    return true;
  }

  /** Time in ms since the first failure; 0: requests succeed. */
  get failingForMs(): number {
    return this.#failingSince ? performance.now() - this.#failingSince : 0;
  }

  async stop() {
    this.#stopping.abort();
    await this.#close();
  }

  /** @throws `TopicRefused` unless the sender waits for topics */
  async #fail(error: unknown, topic: string) {
    const refusal = refusalOf(error, topic);
    this.#failingSince ||= performance.now();
    this.#onFailure();
    if (this.#throttle.count(refusal?.topic ?? 'failed') > 0 && !this.#stopping.signal.aborted) {
      const reason = reasonOf(error);
      if (refusal)
        this.#logger.warn({ topic: refusal.topic, reason }, 'Kafka refuses a topic; the others go on');
      else this.#logger.warn({ reason }, 'Kafka does not take records; waiting for it');
    }
    await this.#close();
    if (refusal && !this.#waitsForTopics) throw refusal;
  }

  async #pause(attempt: number) {
    const longest = Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** Math.min(attempt, 10));
    const { signal } = this.#stopping;
    await sleep(longest * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
  }

  async #close() {
    const producer = this.#producer;
    this.#producer = null;
    // A broken connection cannot be closed in an orderly way.
    if (producer) await producer.close().catch(() => {});
  }
}

/**
 * After a failure of the first part, each of its keys becomes a part. If the records of a single key were too large together, the next
 * request has half as many. After any other failure, the part of a single key moves behind the other parts. Changes `parts`.
 */
function divideFirst(parts: Part[], isTooLarge: boolean) {
  const [part] = parts.splice(0, 1);
  if (!part) return;
  const { records, size } = part;
  const keys = byKey(records);
  if (keys.length > 1) parts.unshift(...keys);
  else if (isTooLarge)
    parts.unshift({ records, size: Math.ceil(Math.min(size, records.length) / 2), hasFailed: true });
  else parts.push({ ...part, hasFailed: true });
}

/** One failure of a request with 1,700 keys would otherwise cause 1,700 requests. Changes `parts`. `most`: limit of keys. */
function joinFirst(parts: Part[], most: number) {
  let count = 0;
  while (count < most && parts[count] && !parts[count]?.hasFailed) count++;
  if (count < 2) return;
  const records = parts.splice(0, count).flatMap((part) => part.records);
  parts.unshift({ records, size: records.length });
}

function byKey(records: OutRecord[]): Part[] {
  const keys: Map<string, OutRecord[]> = new Map();
  for (const record of records) {
    const key = record.key.toString('latin1');
    const some = keys.get(key);
    if (some) some.push(record);
    else keys.set(key, [record]);
  }
  return [...keys.values()].map((some) => ({ records: some, size: some.length }));
}

/** The innermost reasons, which the client of Kafka wraps. A missing topic gets the command that creates it. */
function reasonOf(error: unknown): string {
  const reason = innermostReasons(error);
  // The message of the client contains the topic, but no advice.
  return reason.includes('Unknown topic') ? `${reason} Run: npm run stream -- init` : reason;
}

function innermostReasons(error: unknown): string {
  const inner = error instanceof AggregateError ? error.errors.map(innermostReasons) : [];
  return [...new Set([error instanceof Error ? error.message : String(error), ...inner])]
    .join(': ')
    .slice(0, 300);
}

const hasCode = (error: unknown, codes: number[]) =>
  codes.some((code) => (error as Partial<GenericError> | null)?.findBy?.('apiCode', code));

/** Null: the error does not concern this topic alone. */
function refusalOf(error: unknown, topic: string): TopicRefused | null {
  const isMissing = innermostReasons(error).includes(`Unknown topic ${topic}`);
  return isMissing || hasCode(error, REFUSALS) ? new TopicRefused(topic, reasonOf(error)) : null;
}

/** Portions have at most MAX_REQUEST_BYTES; a single larger record is a portion of its own. */
export function* chunks<R extends { value: Buffer | undefined }>(records: R[]): Generator<R[], void> {
  let from = 0;
  let bytes = 0;
  for (const [index, { value }] of records.entries()) {
    const size = (value?.length ?? 0) + RECORD_BYTES;
    if (bytes + size > MAX_REQUEST_BYTES && index > from) {
      yield records.slice(from, index);
      from = index;
      bytes = 0;
    }
    bytes += size;
  }
  if (from < records.length) yield records.slice(from);
}

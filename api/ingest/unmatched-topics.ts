import { LRUCache } from 'lru-cache';
import { copyBytes } from './admission/byte-budget.ts';
import type { Message } from './pipeline.ts';

/** Limit of topics in the list. Above this limit a new topic replaces the least recently seen topic. */
const MAX_TOPICS = 200;

/** Maximum length of a topic in the list, in characters. A longer topic is cut off, because an MQTT topic may have 64 KiB. */
const MAX_TOPIC = 512;

/**
 * Maximum length of a payload in the list, in bytes. A longer payload is cut off. An operator writes a mapping from
 * the payload, and an uplink message of a LoRaWAN server has 1 to 2 KB.
 */
const MAX_PAYLOAD = 2048;

/**
 * A topic that neither the contract nor a mapping has, with the number of its messages and its newest message.
 */
export interface UnmatchedTopic {
  /** its first 512 characters */
  topic: string;
  /** number of messages */
  count: number;
  /** epoch ms of the newest message */
  seenAt: number;
  /** size of the newest payload in bytes, before it was cut off */
  size: number;
  /** the first 2 KiB of the newest payload */
  payload: Buffer;
}

/**
 * The topics outside the contract on which clients publish. Messages on them are acknowledged and dropped, so
 * without this list nobody would notice a misspelled topic. The list is in memory, and belongs to this
 * process.
 */
export class UnmatchedTopics {
  #topics: LRUCache<string, UnmatchedTopic>;

  /** Time from which the list counts messages, in epoch ms. */
  since;

  /** @param deps `clock`: epoch ms */
  constructor({ clock, maxTopics = MAX_TOPICS }: { clock: () => number; maxTopics?: number }) {
    this.#topics = new LRUCache({ max: maxTopics });
    this.since = clock();
  }

  /** Counts a message that is dropped. */
  note({ topic: given, payload, receivedAt }: Pick<Message, 'topic' | 'payload' | 'receivedAt'>) {
    const topic = given.length > MAX_TOPIC ? shortCopy(given) : given;
    const count = (this.#topics.get(topic)?.count ?? 0) + 1;
    // The bytes are copied, because a view would keep the whole payload in memory.
    const kept = copyBytes(payload.subarray(0, MAX_PAYLOAD));
    this.#topics.set(topic, { topic, count, seenAt: receivedAt, size: payload.length, payload: kept });
  }

  /** @returns the most recently seen first */
  list(): UnmatchedTopic[] {
    return [...this.#topics.values()];
  }
}

/** Copies a topic, because a slice of a string keeps the whole string in memory. */
const shortCopy = (topic: string): string => Buffer.from(`${topic.slice(0, MAX_TOPIC - 1)}…`).toString();

import { LRUCache } from 'lru-cache';
import { copyBytes } from '../../ingest/index.ts';
import type { Message } from '../../ingest/pipeline.ts';

/** A new topic replaces the least recently seen one. */
const MAX_TOPICS = 200;

/** characters; an MQTT topic may have 64 KiB */
const MAX_TOPIC = 512;

/** Bytes. An operator writes a mapping from the payload, and an uplink message of a LoRaWAN server has 1 to 2 KB. */
const MAX_PAYLOAD = 2048;

/** Neither the contract nor a mapping has the topic. */
export interface UnmatchedTopic {
  /** its first 512 characters */
  topic: string;
  count: number;
  /** epoch ms of the newest message */
  seenAt: number;
  /** size of the newest payload in bytes, before it was cut off */
  size: number;
  /** the first 2 KiB of the newest payload */
  payload: Buffer;
}

/**
 * Messages on these topics are acknowledged and dropped, so without this list nobody would notice a misspelled topic.
 * The list is in memory, and belongs to this process.
 */
export class UnmatchedTopics {
  #topics: LRUCache<string, UnmatchedTopic>;

  /** epoch ms from which the list counts messages */
  since;

  constructor({ clock, maxTopics = MAX_TOPICS }: { clock: () => number; maxTopics?: number }) {
    this.#topics = new LRUCache({ max: maxTopics });
    this.since = clock();
  }

  note({ topic: given, payload, receivedAt }: Pick<Message, 'topic' | 'payload' | 'receivedAt'>) {
    const topic = given.length > MAX_TOPIC ? shortCopy(given) : given;
    const count = (this.#topics.get(topic)?.count ?? 0) + 1;
    // A view would keep the whole payload in memory.
    const kept = copyBytes(payload.subarray(0, MAX_PAYLOAD));
    this.#topics.set(topic, { topic, count, seenAt: receivedAt, size: payload.length, payload: kept });
  }

  /** the most recently seen first */
  list(): UnmatchedTopic[] {
    return [...this.#topics.values()];
  }
}

/** A slice of a string keeps the whole string in memory. */
const shortCopy = (topic: string): string => Buffer.from(`${topic.slice(0, MAX_TOPIC - 1)}…`).toString();

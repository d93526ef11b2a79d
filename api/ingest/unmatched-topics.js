import { LRUCache } from 'lru-cache';
import { copyBytes } from './admission/byte-budget.js';

/** @import { Message } from './pipeline.js' */

/** Limit of topics in the list. A further topic replaces the one that was least recently seen. */
const MAX_TOPICS = 200;

/** Limit of a topic's characters in the list. A topic may have 64 KiB. */
const MAX_TOPIC = 512;

/**
 * Limit of a payload's bytes in the list. An operator writes a mapping from them, and an uplink of a LoRaWAN
 * server has 1 to 2 KB.
 */
const MAX_PAYLOAD = 2048;

/**
 * Messages on one topic that neither the contract nor a mapping has, with the newest of them.
 *
 * @typedef {object} UnmatchedTopic
 * @property {string} topic its first 512 characters
 * @property {number} count of messages
 * @property {number} seenAt epoch ms of the newest message
 * @property {number} size bytes of the whole payload of the newest message
 * @property {Buffer} payload the first 2 KiB of the newest payload
 */

/**
 * The topics outside the contract on which clients publish. Messages on them are acknowledged and dropped, so
 * without this list nobody would notice a misspelled topic. The list is in memory, and belongs to this
 * process.
 */
export class UnmatchedTopics {
  /** @type {LRUCache<string, UnmatchedTopic>} */
  #topics;

  /** Epoch ms of the start of the list. */
  since;

  /** @param {{ clock: () => number, maxTopics?: number }} deps `clock`: epoch ms */
  constructor({ clock, maxTopics = MAX_TOPICS }) {
    this.#topics = new LRUCache({ max: maxTopics });
    this.since = clock();
  }

  /** Counts a message that is dropped. @param {Pick<Message, 'topic' | 'payload' | 'receivedAt'>} message */
  note({ topic: given, payload, receivedAt }) {
    const topic = given.length > MAX_TOPIC ? shortCopy(given) : given;
    const count = (this.#topics.get(topic)?.count ?? 0) + 1;
    // A copy: a view would keep the whole payload in memory.
    const kept = copyBytes(payload.subarray(0, MAX_PAYLOAD));
    this.#topics.set(topic, { topic, count, seenAt: receivedAt, size: payload.length, payload: kept });
  }

  /** @returns {UnmatchedTopic[]} the most recently seen first */
  list() {
    return [...this.#topics.values()];
  }
}

/**
 * Copies a topic, because a slice of a string keeps the whole string in memory.
 *
 * @param {string} topic
 * @returns {string}
 */
const shortCopy = (topic) => Buffer.from(`${topic.slice(0, MAX_TOPIC - 1)}…`).toString();

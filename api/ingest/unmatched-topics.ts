import { LRUCache } from 'lru-cache';
import { copyBytes } from './admission/byte-budget.js';

/** @import { Message } from './pipeline.js' */

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
 *
 * @typedef {object} UnmatchedTopic
 * @property {string} topic its first 512 characters
 * @property {number} count number of messages
 * @property {number} seenAt epoch ms of the newest message
 * @property {number} size size of the newest payload in bytes, before it was cut off
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

  /** Time from which the list counts messages, in epoch ms. */
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
    // The bytes are copied, because a view would keep the whole payload in memory.
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

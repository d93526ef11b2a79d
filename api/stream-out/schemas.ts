import { setTimeout as sleep } from 'node:timers/promises';
import { LogThrottle } from '../../common/log-throttle.js';
import { AVRO_SCHEMAS, confluentHead, singleObjectHead } from './avro.js';
import { SchemaRegistry } from './kafka/registry.js';
import { TopicRefused } from './kafka/sender.js';
import { topicName, usedTopics } from './kafka/topics.js';

/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { AvroRecord } from './avro.js' */
/** @import { TopicKind } from './kafka/topics.js' */

/** Pauses between requests to the registry, in ms. */
const PAUSE_MS = { first: 200, longest: 10_000 };

/**
 * Finds how Avro records name their schemas: by a fingerprint, or by the id in a schema registry. With a registry, each topic
 * has its own subject (`TopicNameStrategy`), and the records of a topic wait for the id. Ingest never waits for the id.
 */
export class Schemas {
  #stream;
  #logger;
  #registry;
  #throttle = new LogThrottle();
  /** @type {Map<AvroRecord, { id: number, head: Buffer }>} */
  #known = new Map();

  /** @param {Config['stream']} stream @param {Logger} logger */
  constructor(stream, logger) {
    this.#stream = stream;
    this.#logger = logger;
    this.#registry = stream.registry && new SchemaRegistry(stream.registry);
  }

  /**
   * @param {AvroRecord} record kind of record whose topic was loaded
   * @returns {Buffer} first bytes of its records, which name the schema
   */
  headOf = (record) => this.#known.get(record)?.head ?? singleObjectHead(record);

  /** @param {number} id of a schema @returns {AvroRecord | null} kind of record; null: no loaded topic has this schema */
  recordOf = (id) => [...this.#known].find(([, known]) => known.id === id)?.[0] ?? null;

  /**
   * Finds the id of a topic's schema, and registers the schema if the registry does not have it.
   *
   * @param {TopicKind} topic
   * @returns {Promise<{ subject: string, id: number, isNew: boolean } | null>} null: the topic needs no id
   * @throws {TopicRefused}
   */
  async load(topic) {
    const record = this.#recordOfTopic(topic);
    if (!this.#registry || this.#known.has(record)) return null;
    const name = topicName(this.#stream.prefix, topic);
    const subject = `${name}-value`;
    try {
      const { id, isNew } = await this.#registry.idOf(subject, AVRO_SCHEMAS[record]);
      this.#known.set(record, { id, head: confluentHead(id) });
      return { subject, id, isNew };
    } catch (error) {
      throw new TopicRefused(name, error instanceof Error ? error.message : String(error));
    }
  }

  /** Finds the ids of all topics. @returns {Promise<Array<{ subject: string, id: number, isNew: boolean }>>} @throws {TopicRefused} */
  async loadAll() {
    const found = [];
    for (const topic of usedTopics(this.#stream)) found.push(await this.load(topic));
    return found.filter((subject) => subject !== null);
  }

  /**
   * Repeats the request until the schema of a topic has its id.
   *
   * @param {TopicKind} topic
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>} false: the signal ended the wait
   */
  async wait(topic, signal) {
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        await this.load(topic);
        return true;
      } catch (error) {
        const reason = /** @type {Error} */ (error).message;
        if (this.#throttle.count(topic) > 0)
          this.#logger.warn({ reason }, 'a topic waits for its schema; ingest goes on');
        const pause = Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** Math.min(attempt, 10));
        await sleep(pause, undefined, { signal }).catch(() => {});
      }
    }
    return false;
  }

  /** @param {TopicKind} topic @returns {AvroRecord} */
  #recordOfTopic(topic) {
    const records = /** @type {const} */ ({
      batches: this.#stream.explode ? 'sample' : 'batch',
      latest: 'latest',
      events: 'event',
      'dead-letters': 'dead_letter',
      alarms: 'alarm',
      watermarks: 'watermark',
    });
    return records[topic];
  }
}

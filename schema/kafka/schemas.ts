import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { messageOf } from '../../common/errors.ts';
import { LogThrottle } from '../../common/log-throttle.ts';
import { AVRO_SCHEMAS, type AvroRecord, confluentHead, singleObjectHead } from './avro.ts';
import { SchemaRegistry } from './registry.ts';
import type { KafkaSettings } from './settings.ts';
import { type TopicKind, TopicRefused, topicName, usedTopics } from './topics.ts';

const PAUSE_MS = { first: 200, longest: 10_000 };

/**
 * Avro records name their schema by a fingerprint, or by its id in a registry. With a registry, each topic has its own subject
 * (`TopicNameStrategy`), and the records of a topic wait for the id. Ingest never waits for the id.
 */
export class Schemas {
  #stream;
  #logger;
  #registry;
  #throttle = new LogThrottle();
  #known: Map<AvroRecord, { id: number; head: Buffer }> = new Map();

  constructor(stream: KafkaSettings, logger: Logger) {
    this.#stream = stream;
    this.#logger = logger;
    this.#registry = stream.registry && new SchemaRegistry(stream.registry);
  }

  /** First bytes of a record. With a registry its topic must be loaded. */
  headOf = (record: AvroRecord): Buffer => this.#known.get(record)?.head ?? singleObjectHead(record);

  recordOf = (id: number): AvroRecord | null =>
    [...this.#known].find(([, known]) => known.id === id)?.[0] ?? null;

  /** Registers the schema of the topic if the registry does not have it. Null: the topic needs no id. @throws `TopicRefused` */
  async load(topic: TopicKind): Promise<{ subject: string; id: number; isNew: boolean } | null> {
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

  async loadAll(): Promise<Array<{ subject: string; id: number; isNew: boolean }>> {
    const found = [];
    for (const topic of usedTopics(this.#stream)) found.push(await this.load(topic));
    return found.filter((subject) => subject !== null);
  }

  /** False: the signal ended the wait. */
  async wait(topic: TopicKind, signal: AbortSignal): Promise<boolean> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        await this.load(topic);
        return true;
      } catch (error) {
        const reason = messageOf(error);
        if (this.#throttle.count(topic) > 0)
          this.#logger.warn({ reason }, 'a topic waits for its schema; ingest goes on');
        const pause = Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** Math.min(attempt, 10));
        await sleep(pause, undefined, { signal }).catch(() => {});
      }
    }
    return false;
  }

  #recordOfTopic(topic: TopicKind): AvroRecord {
    const records = {
      batches: this.#stream.explode ? 'sample' : 'batch',
      latest: 'latest',
      events: 'event',
      'dead-letters': 'dead_letter',
      alarms: 'alarm',
      corrections: 'correction',
      watermarks: 'watermark',
    } as const;
    return records[topic];
  }
}

import type { Schemas } from '../../../../schema/kafka/schemas.ts';
import { type TopicKind, TopicRefused } from '../../../../schema/kafka/topics.ts';

/** Topics that Kafka refused in this check. The next check tries them again. */
export class RefusedTopics {
  #schemas;
  #refused: Set<TopicKind> = new Set();

  constructor(schemas: Pick<Schemas, 'load'>) {
    this.#schemas = schemas;
  }

  has(topic: TopicKind) {
    return this.#refused.has(topic);
  }

  clear() {
    this.#refused.clear();
  }

  /** False: Kafka refuses the topic. */
  async unlessRefused(topic: TopicKind, work: () => Promise<unknown>): Promise<boolean> {
    if (this.#refused.has(topic)) return false;
    try {
      await this.#schemas.load(topic);
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof TopicRefused)) throw error;
      this.#refused.add(topic);
      return false;
    }
  }
}

import { COMPLETED_TOPICS } from '../../../../schema/kafka/topics.ts';
import { leastOf, type Progress, untilOf } from './progress.ts';
import type { RefusedTopics } from './refused-topics.ts';
import type { Sending } from './sending.ts';

export class Watermarks {
  #sending;
  #groups;
  #refused;
  /** Groups whose last watermark was refused. */
  #unsent: Set<number> = new Set();

  constructor({
    sending,
    groups,
    refused,
  }: { sending: Pick<Sending, 'records' | 'mustSend'>; groups: number; refused: RefusedTopics }) {
    this.#sending = sending;
    this.#groups = groups;
    this.#refused = refused;
  }

  get unsent(): number[] {
    return [...this.#unsent];
  }

  async send(group: number, progress: Progress) {
    const { records, mustSend } = this.#sending;
    const topics = Object.fromEntries(COMPLETED_TOPICS.map((topic) => [topic, untilOf(progress, topic)]));
    const watermark = { shard: group, shards: this.#groups, until: leastOf(progress), topics };
    const isSent = await this.#refused.unlessRefused('watermarks', () =>
      mustSend([records.ofWatermark(watermark)]),
    );
    if (isSent) this.#unsent.delete(group);
    else this.#unsent.add(group);
  }
}

import { COMPLETED_TOPICS } from '../../../../schema/kafka/topics.ts';
import { bucketOf } from '../../../../schema/rules.ts';
import type { Steps } from '../../../background/index.ts';
import type { ClockGuard } from '../../../store/clock-guard.ts';
import type { StreamStore } from '../store.ts';

export type Progress = Map<string, number>;

export const untilOf = (progress: Progress, topic: string) => progress.get(topic) as number;

export const leastOf = (progress: Progress): number =>
  Math.min(...COMPLETED_TOPICS.map((topic) => untilOf(progress, topic)));

/** The progress of the topics in each group of devices. */
export class StoredProgress {
  #streaming;
  #clock;
  #steps;

  constructor({
    streaming,
    clock,
    steps,
  }: { streaming: StreamStore; clock: Pick<ClockGuard, 'now'>; steps: Steps }) {
    this.#streaming = streaming;
    this.#clock = clock;
    this.#steps = steps;
  }

  /** Lacks `latest` if that topic was never complete. */
  async read(group: number): Promise<Progress> {
    const least = await this.streamedUntil(group);
    const progress = new Map(await this.#steps.run(() => this.#streaming.topicsUntil(group)));
    for (const topic of COMPLETED_TOPICS) if (!progress.has(topic)) progress.set(topic, least);
    return progress;
  }

  /** In epoch ms; for a new group: the hour in which streaming was first turned on. */
  async streamedUntil(group: number): Promise<number> {
    const found = await this.#steps.run(() => this.#streaming.streamedUntil(group));
    if (found !== null) return found;
    const begin = bucketOf(await this.#clock.now());
    await this.#steps.run(() => this.#streaming.writeStreamed(group, begin));
    return begin;
  }

  async write(group: number, topic: string, until: number) {
    await this.#steps.run(() => this.#streaming.writeTopic(group, topic, until));
  }

  async writeLeast(group: number, progress: Progress) {
    await this.#steps.run(() => this.#streaming.writeStreamed(group, leastOf(progress)));
  }
}

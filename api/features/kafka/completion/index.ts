import type { DeviceBytes } from '../../../../schema/ids.ts';
import type { Schemas } from '../../../../schema/kafka/schemas.ts';
import { COMPLETED_TOPICS, type CompletedTopic } from '../../../../schema/kafka/topics.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import type { Leases, Steps } from '../../../background/index.ts';
import type { ClockGuard } from '../../../store/clock-guard.ts';
import { createHourCompletion } from '../../shared/blocks/index.ts';
import type { SentNotes } from '../notes.ts';
import type { RecordMaker } from '../record-maker.ts';
import type { KafkaSender } from '../sender.ts';
import type { StreamStore } from '../store.ts';
import { createAnnouncedCompletion, KINDS } from './announced.ts';
import { BlockCompletion } from './blocks.ts';
import { sendLatest } from './latest.ts';
import { leastOf, type Progress, StoredProgress, untilOf } from './progress.ts';
import { RefusedTopics } from './refused-topics.ts';
import { createReplay } from './replay.ts';
import { devicesOf, type Sending } from './sending.ts';
import { Watermarks } from './watermarks.ts';

/**
 * Completes the topics of Kafka when an hour has closed: it sends the blocks of each device whose digests the notes of sent blocks lack.
 * The queue had no room for them, or the process was killed before. Hours of devices with late messages are compared again. Then a
 * watermark is sent: the topic has every block of earlier hours. Each topic has its own progress, so a topic that Kafka refuses delays no
 * other topic. The watermark is exact for the same reason as packing: a message that may be committed after the comparison is late, and
 * ingest notes it before the acknowledgement.
 */
export function createCompletion(deps: {
  store: Sending['store'];
  streaming: StreamStore;
  announced: Sending['announced'];
  groups: number;
  clock: Pick<ClockGuard, 'now'>;
  steps: Steps;
  leases: Leases;
  /** used by nothing else; it waits for Kafka, but not for a topic that Kafka refuses */
  sender: KafkaSender;
  schemas: Pick<Schemas, 'load'>;
  records: RecordMaker;
  notes: SentNotes;
  sendsLatest: boolean;
  observer: { onCompleted: (blocks: number) => void; onStreamed: (group: number, until: number) => void };
}) {
  const {
    store,
    streaming,
    groups,
    clock,
    steps,
    leases,
    sender,
    schemas,
    records,
    notes,
    sendsLatest,
    observer,
  } = deps;
  const sending: Sending = {
    store,
    streaming,
    announced: deps.announced,
    steps,
    records,
    async mustSend(some) {
      if (!(await sender.send(some))) throw new Stopped();
    },
  };
  const progress = new StoredProgress({ streaming, clock, steps });
  const refused = new RefusedTopics(schemas);
  const watermarks = new Watermarks({ sending, groups, refused });
  const blocks = new BlockCompletion(sending, observer);
  const sendAnnounced = createAnnouncedCompletion(sending);
  const completeBatches = sendsLatest
    ? createBatchesWithLatest({ sending, blocks, progress, refused })
    : (group: number, hour: number) => blocks.complete(group, hour, () => {});
  const hours = new HourCompletion({
    notes,
    progress,
    refused,
    watermarks,
    completeTopic: (topic, group, hour, present) =>
      topic === 'batches'
        ? completeBatches(group, hour, present)
        : sendAnnounced(group, hour, KINDS[topic], 'completion'),
    observer,
  });
  const hourCompletion = createHourCompletion({
    groups,
    clock,
    steps,
    leases,
    readUntil: (group) => hours.readUntil(group),
    completeHour: (group, hour) => hours.complete(group, hour),
    onUntil: () => {},
  });

  return {
    /** Must run before the first message is accepted. So every later commit is completed, even if this process ends early. */
    async begin() {
      for (let group = 0; group < groups; group++) await progress.streamedUntil(group);
    },

    /** A topic that Kafka refuses does not delay the other topics. */
    async completeDue() {
      refused.clear();
      await hourCompletion.completeDue();
      for (const group of watermarks.unsent)
        await leases.hold(group, async () => watermarks.send(group, await progress.read(group)));
    },

    replay: createReplay({ sending, groups, schemas, blocks, sendAnnounced }),
  };
}

/**
 * Sends the newest values after the batches. A process may have ended before it sent these values, or two processes may have sent them in
 * another order. If Kafka refused the topic `latest` before, or the topic is new, it gets the values of all devices.
 */
function createBatchesWithLatest({
  sending,
  blocks,
  progress,
  refused,
}: {
  sending: Sending;
  blocks: BlockCompletion;
  progress: StoredProgress;
  refused: RefusedTopics;
}) {
  return async (group: number, hour: number, present: Progress) => {
    const isBehind = (present.get('latest') ?? 0) < hour;
    /** By id, because a device may have late messages of many hours. */
    const measured: Map<string, DeviceBytes> = new Map();
    await blocks.complete(group, hour, (device) => {
      if (!isBehind) measured.set(device.toString('latin1'), device);
    });
    const devices = isBehind ? devicesOf(sending, group) : measured.values();
    await refused.unlessRefused('latest', () => sendLatest(sending, group, devices));
    if (!refused.has('latest')) await progress.write(group, 'latest', hour + HOUR_MS);
  };
}

class HourCompletion {
  #deps;

  constructor(deps: {
    notes: SentNotes;
    progress: StoredProgress;
    refused: RefusedTopics;
    watermarks: Watermarks;
    completeTopic: (
      topic: CompletedTopic,
      group: number,
      hour: number,
      progress: Progress,
    ) => Promise<unknown>;
    observer: { onStreamed: (group: number, until: number) => void };
  }) {
    this.#deps = deps;
  }

  /**
   * Completes the topics whose progress is at `hour`. Returns the earliest hour that a topic needs next, in epoch ms; infinite if Kafka
   * refuses all topics.
   */
  async complete(group: number, hour: number): Promise<number> {
    const { notes, progress: stored, refused, watermarks, completeTopic, observer } = this.#deps;
    await notes.writeBefore(hour + HOUR_MS);
    const progress = await stored.read(group);
    const completed = [];
    for (const topic of COMPLETED_TOPICS) {
      if (untilOf(progress, topic) !== hour) continue;
      if (await refused.unlessRefused(topic, () => completeTopic(topic, group, hour, progress)))
        completed.push(topic);
    }
    const until = hour + HOUR_MS;
    for (const topic of completed) progress.set(topic, until);
    if (completed.length > 0) await watermarks.send(group, progress);
    for (const topic of completed) await stored.write(group, topic, until);
    await stored.writeLeast(group, progress);
    observer.onStreamed(group, leastOf(progress));
    return this.#nextHour(progress);
  }

  async readUntil(group: number): Promise<number> {
    const progress = await this.#deps.progress.read(group);
    this.#deps.observer.onStreamed(group, leastOf(progress));
    return this.#nextHour(progress);
  }

  #nextHour(progress: Progress): number {
    const topics = COMPLETED_TOPICS.filter((topic) => !this.#deps.refused.has(topic));
    return Math.min(...topics.map((topic) => untilOf(progress, topic)));
  }
}

class Stopped extends Error {
  constructor() {
    super('this process ends before Kafka took the records');
    this.name = 'Stopped';
  }
}

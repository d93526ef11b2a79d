import type { Schemas } from '../../../schema/kafka/schemas.ts';
import { ANNOUNCED_TOPICS, type TopicKind } from '../../../schema/kafka/topics.ts';
import { isLate } from '../../../schema/rules.ts';
import { PayloadMemory } from '../../ingest/admission/index.ts';
import type { Announcement, Noted } from '../../ingest/outbox.ts';
import type { Device } from '../../ingest/registry/cache.ts';
import type { Query } from '../../store/sending/session.ts';
import type { Names } from '../shared/blocks/records.ts';
import { sizeOf } from './announced.ts';
import { LatestSender } from './latest-sender.ts';
import type { KafkaMetrics } from './metrics.ts';
import type { SentNotes } from './notes.ts';
import type { RecordMaker } from './record-maker.ts';
import { Resequencer } from './resequencer.ts';
import type { KafkaSender } from './sender.ts';
import { TopicQueue } from './topic-queue.ts';

/** Indexes in the parameters of a row of `message`. */
const DIGEST = 4;
const SAMPLES = 5;

/** Share of STREAM_QUEUE_BYTES of each topic of announcements. The queue of blocks has the rest. */
const ANNOUNCED_PART = 1 / 16;

interface WaitingBlock {
  device: Device;
  bucket: number;
  digest: Buffer;
  samples: Buffer;
  /** packed, in bytes */
  size: number;
  committedAt: number;
  late: boolean;
}

/** After an announcement is sent, its digest is noted for its group of devices, not for one device. */
interface WaitingAnnouncement {
  announcement: Announcement;
  bucket: number;
  size: number;
  committedAt: number;
}

/**
 * Sends committed blocks to Kafka: a block is queued in the order of its device, encoded, and sent with other blocks. Ingest
 * never waits for Kafka. If the queue of its topic has no room for a block, the completion sends the block when its hour has
 * closed. Each topic has its own queue and sender.
 *
 *     commit -> order of the device -> queue (bytes) -> encode -> send (acks=all) -> note of the digest
 */
export class HotPath {
  #clock;
  #metrics;
  #order;
  #blocks;
  #announced: Map<string, TopicQueue<WaitingAnnouncement>>;
  #latest;
  /** Copies the blocks that wait. Without a copy, a block of 200 bytes kept 1.9 KB of the Buffer pool of Node.js alive. */
  #memory = new PayloadMemory();
  /** One object for all blocks of a device. */
  #names: WeakMap<Device, Names> = new WeakMap();

  constructor({
    queueBytes,
    createSender,
    schemas,
    records,
    notes,
    sendsLatest,
    clock,
    metrics,
  }: {
    queueBytes: number;
    createSender: (topic: TopicKind) => KafkaSender;
    schemas: Pick<Schemas, 'wait'>;
    records: RecordMaker;
    notes: SentNotes;
    sendsLatest: boolean;
    clock: () => number;
    metrics: Pick<KafkaMetrics, 'skipped'>;
  }) {
    this.#clock = clock;
    this.#metrics = metrics;
    const announcedBytes = Math.floor(queueBytes * ANNOUNCED_PART);
    const topicDeps = (topic: TopicKind) => ({
      sender: createSender(topic),
      prepare: (signal: AbortSignal) => schemas.wait(topic, signal),
    });
    const kinds: Array<[kind: string, topic: TopicKind]> = Object.entries(ANNOUNCED_TOPICS);
    this.#announced = new Map(
      kinds.map(([kind, topic]) => [
        kind,
        new TopicQueue({
          ...topicDeps(topic),
          limit: announcedBytes,
          toRecords: ({ announcement }) => [records.ofAnnouncement(announcement, 'hot')],
          onSent: ({ announcement, bucket }) => notes.addAnnounced(announcement.group, bucket, announcement),
        }) as TopicQueue<WaitingAnnouncement>,
      ]),
    );
    this.#blocks = new TopicQueue({
      ...topicDeps('batches'),
      limit: queueBytes - kinds.length * announcedBytes,
      toRecords: (block) => records.ofBlock(block, this.#namesOf(block.device), 'hot'),
      onSent: ({ device, bucket, digest }) => notes.add(device.bytes, bucket, digest),
    }) as TopicQueue<WaitingBlock>;
    this.#latest = sendsLatest ? new LatestSender({ ...topicDeps('latest'), records }) : null;
    this.#order = new Resequencer({
      accepts: (rows) => this.#accept(rows),
      release: (device, bucket, rows) => this.#push(device, bucket, rows),
    });
  }

  /** Observes ingest. */
  get blocks() {
    return this.#order;
  }

  get noteLatest() {
    return this.#latest?.note ?? (() => {});
  }

  removeLatest = (device: Device) => this.#latest?.remove(device);

  announce = ({ announcement, noticed }: Noted) => {
    const queue = this.#announced.get(announcement.kind);
    // The kind of another feature may have no topic.
    if (!queue) return;
    const size = sizeOf(announcement);
    if (queue.reserve(size)) {
      queue.push({ announcement, bucket: noticed, size, committedAt: this.#clock() });
    } else this.#metrics.skipped.inc();
  };

  start() {
    for (const part of this.#parts) part.start();
  }

  /** `withinMs`: time limit for sending the waiting items. */
  async stop(withinMs: number) {
    await Promise.all(this.#parts.map((part) => part.stop(withinMs)));
  }

  get ended() {
    return Promise.all(this.#parts.map(({ ended }) => ended));
  }

  get isFailing() {
    return this.#parts.some(({ isFailing }) => isFailing);
  }

  get queueBytes() {
    return this.#queues.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get lagMs() {
    const now = this.#clock();
    return Math.max(0, ...this.#queues.map(({ oldest }) => (oldest === null ? 0 : now - oldest)));
  }

  get #queues() {
    return [this.#blocks, ...this.#announced.values()];
  }

  get #parts() {
    return this.#latest ? [...this.#queues, this.#latest] : this.#queues;
  }

  #namesOf(device: Device) {
    let names = this.#names.get(device);
    if (!names) {
      names = createNames(device);
      this.#names.set(device, names);
    }
    return names;
  }

  #accept(rows: Query[]) {
    let bytes = 0;
    for (const { params } of rows) bytes += (params[SAMPLES] as Buffer).length;
    if (this.#blocks.reserve(bytes, rows.length)) return true;
    this.#metrics.skipped.inc(rows.length);
    return false;
  }

  #push(device: Device, bucket: number, rows: Query[]) {
    const committedAt = this.#clock();
    const late = isLate(bucket, committedAt);
    for (const { params } of rows) {
      const digest = this.#memory.own(params[DIGEST] as Buffer);
      const samples = this.#memory.own(params[SAMPLES] as Buffer);
      this.#blocks.push({ device, bucket, digest, samples, size: samples.length, committedAt, late });
    }
  }
}

/** The names may change at any time, so they are read late. */
const createNames = (device: Device): Names => ({
  id: device.id,
  get name() {
    return device.name;
  },
  sensor: (sensorId) => device.sensors.get(sensorId)?.name ?? null,
});

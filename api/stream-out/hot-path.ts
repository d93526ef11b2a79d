import { isLate } from '../../schema/rules.js';
import { PayloadMemory } from '../ingest/admission/index.js';
import { sizeOf } from './announced.js';
import { ANNOUNCED_TOPICS } from './kafka/topics.js';
import { LatestSender } from './latest-sender.js';
import { Resequencer } from './resequencer.js';
import { TopicQueue } from './topic-queue.js';

/** @import { Announcement, Noted } from '../ingest/outbox.js' */
/** @import { Device } from '../ingest/registry/cache.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Query } from '../store/sending/session.js' */
/** @import { KafkaSender } from './kafka/sender.js' */
/** @import { TopicKind } from './kafka/topics.js' */
/** @import { SentNotes } from './notes.js' */
/** @import { RecordMaker } from './record-maker.js' */
/** @import { Names } from './records.js' */
/** @import { Schemas } from './schemas.js' */

/** Indexes of the parameters in a row of `message`. */
const DIGEST = 4;
const SAMPLES = 5;

/** Share of STREAM_QUEUE_BYTES that each topic of events, dead letters or alarms has. The queue of blocks has the rest. */
const ANNOUNCED_PART = 1 / 16;

/**
 * A block that waits for Kafka.
 *
 * @typedef {object} WaitingBlock
 * @property {Device} device
 * @property {number} bucket epoch ms
 * @property {Buffer} digest 8 bytes
 * @property {Buffer} samples as in the row of `message`
 * @property {number} size of its samples, in bytes
 * @property {number} committedAt epoch ms
 * @property {boolean} late
 */

/**
 * An announcement (device event, dead letter or alarm change) that waits for Kafka. After it is sent, its digest is noted for
 * its group of devices, not for one device.
 *
 * @typedef {object} WaitingAnnouncement
 * @property {Announcement} announcement
 * @property {number} bucket hour of its commit, in epoch ms
 * @property {number} size bytes
 * @property {number} committedAt epoch ms
 */

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
  /** The queue of each kind of announcement. @type {Map<Announcement['kind'], TopicQueue<WaitingAnnouncement>>} */
  #announced;
  #latest;
  /** Copies the blocks that wait. Without a copy, a block of 200 bytes kept 1.9 KB of the Buffer pool of Node.js alive. */
  #memory = new PayloadMemory();
  /** The names of each device, one object for all its blocks. @type {WeakMap<Device, Names>} */
  #names = new WeakMap();

  /**
   * @param {object} deps
   * @param {number} deps.queueBytes
   * @param {(topic: TopicKind) => KafkaSender} deps.createSender
   * @param {Pick<Schemas, 'wait'>} deps.schemas
   * @param {RecordMaker} deps.records
   * @param {SentNotes} deps.notes
   * @param {boolean} deps.sendsLatest
   * @param {() => number} deps.clock epoch ms
   * @param {Metrics} deps.metrics
   */
  constructor({ queueBytes, createSender, schemas, records, notes, sendsLatest, clock, metrics }) {
    this.#clock = clock;
    this.#metrics = metrics;
    const announcedBytes = Math.floor(queueBytes * ANNOUNCED_PART);
    const topicDeps = (/** @type {TopicKind} */ topic) => ({
      sender: createSender(topic),
      prepare: (/** @type {AbortSignal} */ signal) => schemas.wait(topic, signal),
    });
    const kinds = /** @type {Array<[Announcement['kind'], TopicKind]>} */ (Object.entries(ANNOUNCED_TOPICS));
    this.#announced = new Map(
      kinds.map(([kind, topic]) => [
        kind,
        /** @type {TopicQueue<WaitingAnnouncement>} */ (
          new TopicQueue({
            ...topicDeps(topic),
            limit: announcedBytes,
            toRecords: ({ announcement }) => [records.ofAnnouncement(announcement, 'hot')],
            onSent: ({ announcement, bucket }) =>
              notes.addAnnounced(announcement.group, bucket, announcement),
          })
        ),
      ]),
    );
    this.#blocks = /** @type {TopicQueue<WaitingBlock>} */ (
      new TopicQueue({
        ...topicDeps('batches'),
        limit: queueBytes - kinds.length * announcedBytes,
        toRecords: (block) => records.ofBlock(block, this.#namesOf(block.device), 'hot'),
        onSent: ({ device, bucket, digest }) => notes.add(device.bytes, bucket, digest),
      })
    );
    this.#latest = sendsLatest ? new LatestSender({ ...topicDeps('latest'), records }) : null;
    this.#order = new Resequencer({
      accepts: (rows) => this.#accept(rows),
      release: (device, bucket, rows) => this.#push(device, bucket, rows),
    });
  }

  /** Receives the committed blocks of ingest. */
  get blocks() {
    return this.#order;
  }

  /** Receives the sensors that have a newer value. */
  get noteLatest() {
    return this.#latest?.note ?? (() => {});
  }

  /** Receives a device that was retired. @param {Device} device */
  removeLatest = (device) => this.#latest?.remove(device);

  /** Queues an announcement: a device event, a dead letter, or a change of an alarm. @param {Noted} noted */
  announce = ({ announcement, noticed }) => {
    const size = sizeOf(announcement);
    const queue = /** @type {TopicQueue<WaitingAnnouncement>} */ (this.#announced.get(announcement.kind));
    if (queue.reserve(size)) {
      queue.push({ announcement, bucket: noticed, size, committedAt: this.#clock() });
    } else this.#metrics.streamSkipped.inc();
  };

  start() {
    for (const part of this.#parts) part.start();
  }

  /** Stops after the requests that are being sent. @param {number} withinMs time limit for sending the waiting items */
  async stop(withinMs) {
    await Promise.all(this.#parts.map((part) => part.stop(withinMs)));
  }

  /** Settles when all work has ended. */
  get ended() {
    return Promise.all(this.#parts.map(({ ended }) => ended));
  }

  /** Whether the last request of a topic failed. */
  get isFailing() {
    return this.#parts.some(({ isFailing }) => isFailing);
  }

  get queueBytes() {
    return this.#queues.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Age of the item that has waited longest, in ms. */
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

  /** @param {Device} device */
  #namesOf(device) {
    let names = this.#names.get(device);
    if (!names) {
      names = createNames(device);
      this.#names.set(device, names);
    }
    return names;
  }

  /** @param {Query[]} rows */
  #accept(rows) {
    let bytes = 0;
    for (const { params } of rows) bytes += /** @type {Buffer} */ (params[SAMPLES]).length;
    if (this.#blocks.reserve(bytes, rows.length)) return true;
    this.#metrics.streamSkipped.inc(rows.length);
    return false;
  }

  /** @param {Device} device @param {number} bucket epoch ms @param {Query[]} rows */
  #push(device, bucket, rows) {
    const committedAt = this.#clock();
    const late = isLate(bucket, committedAt);
    for (const { params } of rows) {
      const digest = this.#memory.own(/** @type {Buffer} */ (params[DIGEST]));
      const samples = this.#memory.own(/** @type {Buffer} */ (params[SAMPLES]));
      this.#blocks.push({ device, bucket, digest, samples, size: samples.length, committedAt, late });
    }
  }
}

/** The names of a device and its sensors, which may change at any time. @param {Device} device @returns {Names} */
const createNames = (device) => ({
  id: device.id,
  get name() {
    return device.name;
  },
  sensor: (sensorId) => device.sensors.get(sensorId)?.name ?? null,
});

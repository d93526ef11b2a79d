import { someAtOnce } from '../../common/some-at-once.js';
import { isLate, MAX_BLOCK_BYTES, PARTITION_WARN, partsFor } from '../../schema/rules.js';

/** @import { Logger } from 'pino' */
/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Numbers } from '../../schema/packed/series.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { Hour, SampleWrites } from '../store/measurements/writes.js' */
/** @import { Retry } from '../store/sending/retry.js' */
/** @import { Query } from '../store/sending/session.js' */
/** @import { LateWriter } from './late-samples.js' */
/** @import { Device, Sensor } from './registry/cache.js' */

/**
 * Concurrent requests of one message. A message with a year of hourly samples needs 8,760 requests. All at once they would block the
 * queue for permits, and take 75 times the memory of the message.
 */
const HOURS_AT_ONCE = 16;

/**
 * The samples of one sensor in one message: sorted, one per instant.
 *
 * @typedef {{ known: Sensor, sensor: Buffer, times: Numbers, values: Numbers }} Series
 */

/**
 * Receives the blocks of each device in the order in which its messages arrived, whatever the order of their commits.
 *
 * @template [T=any]
 * @typedef {object} BlockObserver
 * @property {(device: Device) => T} expect a block of the device is about to be written; its place
 * @property {(place: T, bucket: number, rows: Query[]) => void} settle the block is committed as these rows of `message`; none: it is not
 */

/** The rows of a message. @typedef {{ hours: Hour[], parts: number }} WritePlan `parts`: number of partitions per hour of the device */

/**
 * Commits samples: one row per hour of a message. Waiting messages of the same device and hour share a row. Late samples also go into
 * history.
 */
export class SampleWriter {
  #store;
  #retry;
  #clock;
  #late;
  #batches;
  /** The committed number of parts, by device and hour. @type {WeakMap<Device, Map<number, number>>} */
  #spread = new WeakMap();

  /**
   * @param {object} deps
   * @param {SampleWrites} deps.store
   * @param {Retry} deps.retry
   * @param {PartitionWatch} deps.partitions
   * @param {ClockGuard} deps.clock
   * @param {LateWriter} deps.late
   * @param {BlockObserver} [deps.blocks]
   */
  constructor({ store, retry, partitions, clock, late, blocks }) {
    this.#store = store;
    this.#retry = retry;
    this.#clock = clock;
    this.#late = late;
    this.#batches = new HourBatches({
      store,
      retry,
      blocks,
      onSend: (device, hour, rows) => partitions.note(device, hour, rows.length),
    });
  }

  /**
   * Divides the samples of a message into rows. It does not encode them yet.
   *
   * @param {Device} device
   * @param {Series[]} series
   * @returns {WritePlan}
   */
  plan(device, series) {
    const parts = partsFor(device.sensors.size);
    return { hours: this.#store.plan(series, parts), parts };
  }

  /**
   * Commits the rows of a message.
   *
   * @param {Device} device
   * @param {WritePlan} plan
   * @returns {Promise<void>} settles when all rows are committed
   * @throws {MillraceError} `rejected`: the database refuses these samples
   */
  async write(device, { hours, parts }) {
    const began = Date.now();
    await this.#writeHours(device, hours, parts);
    // The clock is read after the commit, because a packer that read the hour before may have missed the samples.
    const time = this.#clock.now();
    const at = typeof time === 'number' ? time : await time;
    if (hours.some(({ bucket }) => isLate(bucket, at)))
      await this.#late.write(device, hours, { began: Math.min(began, at), at });
  }

  /** @param {Device} device @param {number} bucket epoch ms @param {number} parts */
  async #commitParts(device, bucket, parts) {
    if (this.#spread.get(device)?.get(bucket) === parts) return;
    await this.#retry.run(() => this.#store.writeParts(device.bytes, bucket, parts));
    const hours = this.#spread.get(device) ?? new Map();
    if (hours.size >= HOURS_REMEMBERED) hours.clear();
    this.#spread.set(device, hours.set(bucket, parts));
  }

  /** @param {Device} device @param {Hour[]} hours @param {number} parts */
  #writeHours(device, hours, parts) {
    const [only] = hours;
    if (hours.length === 1 && only && parts === 1) return this.#batches.add(device, only);
    const buckets = parts > 1 ? new Set(hours.map(({ bucket }) => bucket)) : [];
    // Both are committed before the acknowledgement, in any order.
    return Promise.all([
      someAtOnce(HOURS_AT_ONCE, hours, (hour) => this.#batches.add(device, hour)),
      someAtOnce(HOURS_AT_ONCE, buckets, (bucket) => this.#commitParts(device, bucket, parts)),
    ]);
  }
}

/** Remembered hours of a wide device. A backfill touches many hours. */
const HOURS_REMEMBERED = 1000;

/**
 * The content of one request. `hour` grows until it is sent. `messages` is the number of messages in it.
 *
 * @typedef {{ hour: Hour, messages: number, done: Promise<void> }} Batch
 */

/** Bytes that a server counts for a row in addition to its block, with headers and timestamps, rounded up. */
const ROW_WEIGHT = 150;

const NOTHING = Promise.resolve();

/**
 * Merges waiting messages of one device and hour into one block: one row, one request. No message is delayed for this: a batch accepts
 * messages only until it may be sent. Under load, messages of one sample become blocks of many.
 *
 *     in flight              [a: 12:00] [b: 12:00]      a place in the window each
 *     waiting for a place    [a: 12:00, 12:00, 12:00] [c: 12:00]
 */
export class HourBatches {
  #store;
  #retry;
  #onSend;
  #blocks;
  /** The batches that may grow, by partition and by the Buffer of the device id, which is the same object for each message. @type {Map<Buffer, Map<number, Batch>>} */
  #open = new Map();

  /**
   * @param {object} deps
   * @param {SampleWrites} deps.store
   * @param {Retry} deps.retry
   * @param {(device: Device, hour: Hour, queries: Query[]) => void} deps.onSend
   * @param {BlockObserver} [deps.blocks]
   */
  constructor({ store, retry, onSend, blocks }) {
    this.#store = store;
    this.#retry = retry;
    this.#onSend = onSend;
    this.#blocks = blocks;
  }

  /**
   * Adds the samples of one hour to the open batch of its partition, or opens one.
   *
   * @param {Device} device
   * @param {Hour} hour of one message
   * @returns {Promise<void>} settles when it is committed
   * @throws {MillraceError} `rejected`: the database refuses these samples
   */
  async add(device, hour) {
    let batch = this.#open.get(device.bytes)?.get(keyOf(hour));
    if (batch && batch.hour.bytes + hour.bytes < MAX_BLOCK_BYTES) {
      // The first message needs its own hour again if the database refuses the batch. So the batch grows a copy.
      if (batch.messages === 1) batch.hour = { ...batch.hour, pieces: [...batch.hour.pieces] };
      batch.messages++;
      batch.hour.pieces.push(...hour.pieces);
      batch.hour.bytes += hour.bytes;
    } else batch = this.#begin(device, hour);
    try {
      await batch.done;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // The database refuses another message of the batch, or the size of the batch. So each row of this message is tried alone.
      const rows = this.#store.encode(device.bytes, hour);
      if (batch.messages === 1 && rows.length === 1) throw error;
      for (const row of rows) {
        const place = this.#blocks?.expect(device);
        let committed = false;
        try {
          await this.#retry.run(() => this.#store.commit(device.bytes, hour, () => [row]));
          committed = true;
        } finally {
          this.#blocks?.settle(place, hour.bucket, committed ? [row] : []);
        }
      }
    }
  }

  /** @param {Device} device @param {Hour} hour @returns {Batch} */
  #begin(device, hour) {
    /** @type {Batch} */
    const batch = { hour, messages: 1, done: NOTHING };
    const hours = this.#open.get(device.bytes);
    if (hours) hours.set(keyOf(hour), batch);
    else this.#open.set(device.bytes, new Map([[keyOf(hour), batch]]));
    batch.done = this.#send(device, batch);
    return batch;
  }

  /** @param {Buffer} device @param {Batch} batch */
  #close(device, batch) {
    const hours = this.#open.get(device);
    if (hours?.get(keyOf(batch.hour)) !== batch) return;
    hours.delete(keyOf(batch.hour));
    if (hours.size === 0) this.#open.delete(device);
  }

  /** @param {Device} device @param {Batch} batch */
  async #send(device, batch) {
    /** Encoded once, also when the request is retried. @type {Query[] | null} */
    let queries = null;
    const place = this.#blocks?.expect(device);
    let committed = false;
    const take = () => {
      if (queries) return queries;
      this.#close(device.bytes, batch);
      queries = this.#store.encode(device.bytes, batch.hour);
      this.#onSend(device, batch.hour, queries);
      return queries;
    };
    try {
      const bytes = () => ROW_WEIGHT + batch.hour.bytes;
      await this.#retry.run(() => this.#store.commit(device.bytes, batch.hour, take, bytes));
      committed = true;
    } finally {
      this.#blocks?.settle(place, batch.hour.bucket, committed ? take() : []);
      this.#close(device.bytes, batch);
    }
  }
}

/** A bucket is a multiple of an hour in ms, so no two partitions of a device have the same sum. @param {Hour} hour */
const keyOf = ({ bucket, part }) => bucket + part;

/** @param {unknown} error */
const isRefusal = (error) => /** @type {{ code?: string }} */ (error)?.code === 'rejected';

/**
 * Warns about partitions that grow too large for a server, once per device and hour. It never refuses data. It counts only the writes of
 * this process, and only the newest hour of each device.
 */
export class PartitionWatch {
  #logger;
  #onLarge;
  /** By device. @type {WeakMap<object, { bucket: number, parts: Map<number, { rows: number, bytes: number }>, reported: boolean }>} */
  #hours = new WeakMap();

  /** @param {{ logger: Logger, onLarge: () => void }} deps */
  constructor({ logger, onLarge }) {
    this.#logger = logger;
    this.#onLarge = onLarge;
  }

  /**
   * Counts the rows and bytes of a write.
   *
   * @param {Device} device
   * @param {{ bucket: number, part: number, bytes: number }} hour the written part of it
   * @param {number} rows
   */
  note(device, { bucket, part, bytes }, rows) {
    let hour = this.#hours.get(device);
    if (!hour || bucket > hour.bucket) {
      hour = { bucket, parts: new Map(), reported: false };
      this.#hours.set(device, hour);
    }
    if (bucket !== hour.bucket) return;
    const partition = hour.parts.get(part) ?? { rows: 0, bytes: 0 };
    hour.parts.set(part, partition);
    partition.rows += rows;
    partition.bytes += bytes;
    const isLarge = partition.rows > PARTITION_WARN.rows || partition.bytes > PARTITION_WARN.bytes;
    if (hour.reported || !isLarge) return;
    hour.reported = true;
    this.#onLarge();
    this.#logger.warn({ device: device.id, ...partition }, 'a large partition: let this device batch longer');
  }
}

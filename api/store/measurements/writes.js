import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import { forEachConcurrently } from '../../../common/concurrency.js';
import {
  bucketOf,
  DAY_MS,
  MAX_BLOCK_BYTES,
  PARTITION_WARN,
  partsFor,
  SERIES_BYTES,
} from '../../../schema/rules.js';
import { int32, int64 } from '../cql-encoding.js';
import { isRefusal, Partition, PendingRow, PendingRows } from '../sending/pending-rows.js';
import { encodeHour, planHours } from './hours.js';

/** @import { Logger } from 'pino' */
/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Piece } from '../../../schema/packed/block.js' */
/** @import { Retry } from '../sending/retry.js' */
/** @import { Query, Session } from '../sending/session.js' */
/** @import { Hour, SensorSeries } from './hours.js' */

const ADD_PARTS = {
  name: 'write_parts',
  cql: 'UPDATE message SET parts = parts + ? WHERE device_id = ? AND bucket = ? AND part = ?',
};

/**
 * Concurrent requests of one message. A message with a year of hourly samples needs 8,760 requests. All at
 * once would block the queue for permits, and take 75 times the memory of the message.
 */
const HOURS_AT_ONCE = 16;

/** Limit of remembered hours of a wide device. A backfill touches many hours. */
const HOURS_REMEMBERED = 1000;

/**
 * Time in ms after which remembered hours are dropped. The stored number of parts expires, so later samples
 * must store it again.
 */
const REMEMBERED_MS = DAY_MS;

/** Bytes that a server counts for a row in addition to its block, with headers and timestamps, rounded up. Cassandra 5.0 counts 114. */
const ROW_WEIGHT = 150;

/**
 * A device, in the form that writes of samples need. `bytes` and the id of each sensor are the same Buffer
 * objects for each message.
 *
 * @typedef {{ id?: string, bytes: Buffer, sensors: { size: number } }} SampleDevice
 */

/**
 * Receives the blocks of each device in the order in which its messages arrived, whatever the order of their commits.
 *
 * @template [T=any]
 * @typedef {object} BlockObserver
 * @property {(device: any) => T} expect called before a block of the device is written; returns the place of the block in the order
 * @property {(place: T, bucket: number, rows: Query[]) => void} settle called when the block is committed as
 *   these rows of `message`; without rows: the block was not committed
 */

/**
 * Commits the samples of messages: one row for each hour of a message. Waiting messages of the same device
 * and hour share a block. So under load, messages of one sample become blocks of many samples.
 */
export class SampleWrites {
  #session;
  #retry;
  #rows;
  #watch;
  #now;
  #partitions = new DevicePartitions();
  /** @type {BlockObserver | null} */
  #blocks = null;
  /** The committed number of parts, by device and hour. @type {WeakMap<Buffer, Map<number, number>>} */
  #spread = new WeakMap();
  /** Time when `#spread` was emptied, by `#now`. */
  #rememberedAt;

  /**
   * @param {object} deps
   * @param {Pick<Session, 'write' | 'writeMerged'>} deps.session
   * @param {Pick<Retry, 'run' | 'repeat' | 'noteAnswer'>} deps.retry
   * @param {PartitionWatch} deps.watch
   * @param {() => number} [deps.now] ms of a monotonic clock
   */
  constructor({ session, retry, watch, now = () => performance.now() }) {
    this.#session = session;
    this.#retry = retry;
    this.#watch = watch;
    this.#now = now;
    this.#rememberedAt = now();
    this.#rows = new PendingRows({ session, retry });
  }

  /** Sets an observer that receives all blocks that are written afterwards. @param {BlockObserver} blocks */
  observeBlocks(blocks) {
    this.#blocks = blocks;
  }

  /**
   * Commits the samples of a message. Each hour is encoded only when it is sent. A message with a year of
   * hourly samples is 8,760 requests, which would take 75 times the memory of the message if they were
   * encoded at once.
   *
   * @param {SampleDevice} device
   * @param {SensorSeries[]} series one of each sensor
   * @returns {Promise<Hour[]>} the hours of the message; settles when all of them are committed
   * @throws {MillraceError} `rejected`: the database refuses these samples
   */
  write(device, series) {
    const parts = partsFor(device.sensors.size);
    const hours = planHours(series, parts);
    const [only] = hours;
    if (hours.length !== 1 || !only || parts > 1) return this.#writeHours(device, hours, parts);
    const row = this.#join(device, only);
    // Uses `then` and not async, because every message would keep the state of one more function until its
    // commit.
    return row.done.then(
      () => hours,
      async (error) => {
        await this.#commitAlone(row, device, only, error);
        return hours;
      },
    );
  }

  /** @param {SampleDevice} device @param {Hour[]} hours of one message @param {number} parts of the device @returns {Promise<Hour[]>} the same hours */
  async #writeHours(device, hours, parts) {
    const buckets = parts > 1 ? new Set(hours.map(({ bucket }) => bucket)) : [];
    // Samples and parts are both committed before the acknowledgement, in any order.
    await Promise.all([
      forEachConcurrently(HOURS_AT_ONCE, hours, (hour) => this.#commit(device, hour)),
      forEachConcurrently(HOURS_AT_ONCE, buckets, (bucket) => this.#commitParts(device.bytes, bucket, parts)),
    ]);
    return hours;
  }

  /** @param {SampleDevice} device @param {Hour} hour */
  async #commit(device, hour) {
    const row = this.#join(device, hour);
    try {
      await row.done;
    } catch (error) {
      await this.#commitAlone(row, device, hour, error);
    }
  }

  /** Adds the samples of one hour to the open row of its partition, or opens one. @param {SampleDevice} device @param {Hour} hour @returns {PendingRow<Hour>} */
  #join(device, hour) {
    const partition = this.#partitions.find(device.bytes, hour.bucket, hour.part);
    const { open } = partition;
    if (open?.join(hour)) return open;
    return this.#rows.open(
      new PendingHour(partition, hour, { device, watch: this.#watch, blocks: this.#blocks }),
    );
  }

  /**
   * Commits the samples of one message alone, after the database refused a row. The reason may be another
   * message of the row, or the size of the row.
   *
   * @param {PendingRow<Hour>} row that failed
   * @param {SampleDevice} device
   * @param {Hour} hour of the message
   * @param {unknown} error
   * @throws the error if it is no refusal, or if the row had no other message
   */
  async #commitAlone({ messages, partition }, device, hour, error) {
    if (!isRefusal(error)) throw error;
    const queries = encodeHour(partition, hour);
    if (messages === 1 && queries.length === 1) throw error;
    for (const query of queries) {
      const deps = { device, watch: this.#watch, blocks: this.#blocks };
      await this.#rows.sendAlone(new PendingHour(partition, hour, deps, [query]));
    }
  }

  /** Stores the number of parts of an hour, for its readers. @param {Buffer} device 16 bytes @param {number} bucket epoch ms @param {number} parts more than 1 */
  async #commitParts(device, bucket, parts) {
    const now = this.#now();
    if (now - this.#rememberedAt > REMEMBERED_MS) {
      this.#spread = new WeakMap();
      this.#rememberedAt = now;
    }
    if (this.#spread.get(device)?.get(bucket) === parts) return;
    const { key } = this.#partitions.find(device, bucket, 0);
    await this.#retry.run(() => this.#session.write(ADD_PARTS, [[parts], ...key]));
    const hours = this.#spread.get(device) ?? new Map();
    if (hours.size >= HOURS_REMEMBERED) hours.clear();
    this.#spread.set(device, hours.set(bucket, parts));
  }
}

/**
 * The samples of one device and hour that wait together. They become one block if it is small enough.
 * @extends {PendingRow<Hour>}
 */
export class PendingHour extends PendingRow {
  #watch;
  #blocks;
  #place;

  /**
   * @param {Partition} partition
   * @param {Hour} hour of the first message
   * @param {object} deps
   * @param {SampleDevice} deps.device
   * @param {PartitionWatch} deps.watch
   * @param {BlockObserver | null} deps.blocks
   * @param {Query[]} [queries] encoded row, which no message may join
   */
  constructor(partition, hour, { device, watch, blocks }, queries) {
    super('write_measurements', partition, ROW_WEIGHT + 1 + hour.bytes, queries);
    this.device = device;
    /** The samples of all messages in the row. */
    this.hour = hour;
    this.#watch = watch;
    this.#blocks = blocks;
    this.#place = blocks?.expect(device);
  }

  /** @override @param {Hour} hour @returns {boolean} */
  join(hour) {
    const { pieces } = this.hour;
    const width = this.messages === 1 ? pieces.length : this.hour.width;
    const isAligned = hasSensorsOf(hour.pieces, pieces, width);
    // Each sensor occurs once in a block.
    const bytes = isAligned ? hour.bytes - SERIES_BYTES * width : hour.bytes;
    if (this.hour.bytes + bytes >= MAX_BLOCK_BYTES) return false;
    // The row grows a copy, because the first message needs its own hour again if the database refuses the
    // row.
    if (this.messages === 1) this.hour = { ...this.hour, pieces: [...pieces], isShared: true };
    this.messages++;
    this.hour.width = isAligned ? width : 0;
    this.hour.pieces.push(...hour.pieces);
    this.hour.bytes += bytes;
    this.grow(bytes);
    return true;
  }

  /** @override */
  toQueries() {
    const queries = encodeHour(this.partition, this.hour);
    this.#watch.note(this.device, this.hour, queries.length);
    // Sensors that share their times make a smaller block than estimated, so more rows fit into the request.
    this.bytes = 0;
    for (const { params } of queries) this.bytes += ROW_WEIGHT + /** @type {Buffer} */ (params.at(-1)).length;
    return queries;
  }

  /** @override @param {boolean} isCommitted */
  settled(isCommitted) {
    this.#blocks?.settle(this.#place, this.hour.bucket, isCommitted ? this.encode() : []);
  }
}

/**
 * @param {Piece[]} arriving pieces of a message
 * @param {Piece[]} pieces of the row
 * @param {number} width number of pieces of each message in the row; 0: the messages have different sensors
 * @returns {boolean} whether the message has the same sensors as the others, in the same order
 */
function hasSensorsOf(arriving, pieces, width) {
  if (arriving.length !== width) return false;
  for (let index = 0; index < width; index++)
    if (arriving[index]?.sensor !== pieces[index]?.sensor) return false;
  return true;
}

/**
 * Caches the partitions of the hour to which each device was last written, with the rows that may still grow.
 * So a routing key is computed once an hour. Partitions are found by the identity of the Buffer with the
 * device's id, which ingest keeps as long as the device is cached.
 */
export class DevicePartitions {
  /** By device, then by hour and part. @type {WeakMap<Buffer, Map<number, Partition>>} */
  #devices = new WeakMap();

  /** @param {Buffer} device 16 bytes @param {number} bucket epoch ms @param {number} part @returns {Partition} */
  find(device, bucket, part) {
    // A bucket is a multiple of an hour in ms, so no two partitions of a device have the same sum.
    const key = bucket + part;
    let partitions = this.#devices.get(device);
    const known = partitions?.get(key);
    if (known) return known;
    if (partitions) forgetHours(partitions, bucket);
    else {
      partitions = new Map();
      this.#devices.set(device, partitions);
    }
    const partition = new Partition(device, int64(bucket), int32(part));
    partitions.set(key, partition);
    return partition;
  }
}

/** @param {Map<number, Partition>} partitions @param {number} bucket epoch ms of the hour that stays */
function forgetHours(partitions, bucket) {
  for (const [key, { open }] of partitions) if (!open && bucketOf(key) !== bucket) partitions.delete(key);
}

/** Limit of devices whose newest hour is watched, at about 500 bytes each. */
const MAX_WATCHED = 100_000;

/**
 * Warns about partitions that grow too large for a server, once per device and hour. Data is never refused.
 * Only the writes of this process count, and only the newest hour of each device.
 */
export class PartitionWatch {
  #logger;
  #onLarge;
  /**
   * By the id of the device, because the cache of devices replaces a device's object every ten minutes.
   *
   * @type {LRUCache<string, { bucket: number, parts: Map<number, { rows: number, bytes: number }>, reported: boolean }>}
   */
  #hours = new LRUCache({ max: MAX_WATCHED });

  /** @param {{ logger: Pick<Logger, 'warn'>, onLarge: () => void }} deps */
  constructor({ logger, onLarge }) {
    this.#logger = logger;
    this.#onLarge = onLarge;
  }

  /**
   * Counts the rows and bytes of a write.
   *
   * @param {SampleDevice} device
   * @param {{ bucket: number, part: number, bytes: number }} hour the written part of an hour
   * @param {number} rows
   */
  note(device, { bucket, part, bytes }, rows) {
    const id = device.id ?? device.bytes.toString('latin1');
    let hour = this.#hours.get(id);
    if (!hour || bucket > hour.bucket) {
      hour = { bucket, parts: new Map(), reported: false };
      this.#hours.set(id, hour);
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

import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { forEachConcurrently } from '../../../common/concurrency.ts';
import type { DeviceBytes } from '../../../schema/ids.ts';
import type { Piece } from '../../../schema/packed/block.ts';
import {
  bucketOf,
  DAY_MS,
  MAX_BLOCK_BYTES,
  PARTITION_WARN,
  partsFor,
  SERIES_BYTES,
} from '../../../schema/rules.ts';
import { int32, int64 } from '../cql-values.ts';
import { isRefusal, Partition, PendingRow, PendingRows } from '../sending/pending-rows.ts';
import type { Retry } from '../sending/retry.ts';
import type { Query, Session } from '../sending/session.ts';
import { encodeHour, type Hour, planHours, type SensorSeries } from './hours.ts';

const ADD_PARTS = {
  name: 'write_parts',
  cql: 'UPDATE message SET parts = parts + ? WHERE device_id = ? AND bucket = ? AND part = ?',
};

/**
 * Per message. A message with a year of hourly samples needs 8,760 requests. Sent at once, they would make
 * other messages wait for permits, and take 75 times the memory of the message.
 */
const HOURS_AT_ONCE = 16;

/** Per device. At the limit the cache of the device is cleared. */
const HOURS_REMEMBERED = 1000;

/** In ms. The stored numbers of parts expire, so later samples must store them again. */
const REMEMBERED_MS = DAY_MS;

/** Bytes that a server counts for a row in addition to its block, with headers and timestamps, rounded up. Cassandra 5.0 counts 114. */
const ROW_WEIGHT = 150;

/** `bytes` and the ids of sensors are the same Buffer objects in all messages of the device. */
type SampleDevice = { id?: string; bytes: DeviceBytes; sensors: { size: number } };

/**
 * Receives the blocks of each device in the order in which the messages of the device arrived. Blocks may be committed in another order.
 */
export interface BlockObserver<Place = unknown> {
  /** called before a block is written; returns the place of the block in the order */
  expect(device: SampleDevice): Place;
  /** called after the commit, with the rows of `message` that hold the block; without rows: the block was not committed */
  settle(place: Place, bucket: number, rows: Query[]): void;
}

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
  #blocks: BlockObserver | null = null;
  /** Committed number of parts, by device id and hour. */
  #spread: WeakMap<DeviceBytes, Map<number, number>> = new WeakMap();
  /** When `#spread` was last cleared, in ms of `#now`. */
  #rememberedAt;

  constructor({
    session,
    retry,
    watch,
    now = () => performance.now(),
  }: {
    session: Pick<Session, 'write' | 'writeMerged'>;
    retry: Pick<Retry, 'run' | 'wait' | 'noteAnswer'>;
    watch: Pick<PartitionWatch, 'note'>;
    now?: () => number;
  }) {
    this.#session = session;
    this.#retry = retry;
    this.#watch = watch;
    this.#now = now;
    this.#rememberedAt = now();
    this.#rows = new PendingRows({ session, retry });
  }

  observeBlocks(blocks: BlockObserver) {
    this.#blocks = blocks;
  }

  /**
   * Each hour is encoded only when it is sent. Otherwise the 8,760 encoded requests of a message with a year
   * of hourly samples would take 75 times the memory of the message.
   * @param series one series for each sensor
   * @returns the hours of the message; settles when all of them are committed
   * @throws `rejected`: the database refuses these samples
   */
  write(device: SampleDevice, series: SensorSeries[]): Promise<Hour[]> {
    const parts = partsFor(device.sensors.size);
    const hours = planHours(series, parts);
    const [only] = hours;
    if (hours.length !== 1 || !only || parts > 1) return this.#writeHours(device, hours, parts);
    const row = this.#join(device, only);
    // `then` instead of an async function saves memory: every message would keep the state of an async function until its commit.
    return row.done.then(
      () => hours,
      async (error) => {
        await this.#commitAlone(row, device, only, error);
        return hours;
      },
    );
  }

  async #writeHours(device: SampleDevice, hours: Hour[], parts: number): Promise<Hour[]> {
    const buckets = new Set(hours.map(({ bucket }) => bucket));
    const unknown =
      parts > 1 ? [...buckets].filter((bucket) => !this.#knowsParts(device, bucket, parts)) : [];
    // The numbers of parts come first. Otherwise a reader of changes could pass samples in a part that it does not know.
    const first =
      unknown.length === 0
        ? null
        : forEachConcurrently(HOURS_AT_ONCE, unknown, (bucket) =>
            this.#commitParts(device.bytes, bucket, parts),
          );
    await this.#commitInOrder(device, hours, first);
    return hours;
  }

  /**
   * Before this function returns its promise, every hour has its place in the order of the device. The next
   * message of the device may be written in the same microtask.
   * @param first the commit that the hours wait for
   */
  async #commitInOrder(device: SampleDevice, hours: Hour[], first: Promise<void> | null) {
    const blocks = this.#blocks;
    const begun =
      first === null ? hours.slice(0, HOURS_AT_ONCE).map((hour) => this.#commit(device, hour)) : [];
    const rest = hours.slice(begun.length).map((hour) => ({ hour, place: blocks?.expect(device) }));
    if (blocks && rest.length > 0) this.#partitions.closeRows(device.bytes);
    const remaining = rest.values();
    const starts = first === null ? begun : new Array<Promise<void>>(HOURS_AT_ONCE).fill(first);
    const ends = await Promise.allSettled(
      starts.map(async (start) => {
        await start;
        for (const { hour, place } of remaining) await this.#commit(device, hour, place);
      }),
    );
    for (const { place } of remaining) blocks?.settle(place, 0, []);
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #commit(device: SampleDevice, hour: Hour, place?: unknown) {
    const row = place === undefined ? this.#join(device, hour) : this.#open(device, hour, place);
    // A later message must not join a row that has an earlier place.
    if (place !== undefined) row.close();
    try {
      await row.done;
    } catch (error) {
      await this.#commitAlone(row, device, hour, error);
    }
  }

  /** Uses the row of the partition that is not sent yet, if there is one. */
  #join(device: SampleDevice, hour: Hour): PendingRow<Hour> {
    const { open } = this.#partitions.find(device.bytes, hour.bucket, hour.part);
    if (open?.join(hour)) return open;
    // An observer gets the samples of each sensor in order of arrival. So messages join only the newest row of the part.
    if (this.#blocks) this.#partitions.closeRows(device.bytes, hour.part);
    return this.#open(device, hour);
  }

  #open(device: SampleDevice, hour: Hour, place?: unknown): PendingRow<Hour> {
    const partition = this.#partitions.find(device.bytes, hour.bucket, hour.part);
    const deps = { device, watch: this.#watch, blocks: this.#blocks, place };
    return this.#rows.open(new PendingHour(partition, hour, deps));
  }

  /**
   * The database refused a row with several messages. The reason may be another message of the row, or the size of the row.
   * @throws `error` if it is no refusal, or if the refused row had only this message
   */
  async #commitAlone(
    { messages, partition }: PendingRow<Hour>,
    device: SampleDevice,
    hour: Hour,
    error: unknown,
  ) {
    if (!isRefusal(error)) throw error;
    const queries = encodeHour(partition, hour);
    if (messages === 1 && queries.length === 1) throw error;
    for (const query of queries) {
      const deps = { device, watch: this.#watch, blocks: this.#blocks };
      await this.#rows.sendAlone(new PendingHour(partition, hour, deps, [query]));
    }
  }

  #knowsParts({ bytes }: SampleDevice, bucket: number, parts: number) {
    const now = this.#now();
    if (now - this.#rememberedAt > REMEMBERED_MS) {
      this.#spread = new WeakMap();
      this.#rememberedAt = now;
    }
    return this.#spread.get(bytes)?.get(bucket) === parts;
  }

  /** Readers need the number to find all parts. @param parts more than 1 */
  async #commitParts(device: DeviceBytes, bucket: number, parts: number) {
    const { key } = this.#partitions.find(device, bucket, 0);
    await this.#retry.run(() => this.#session.write(ADD_PARTS, [[parts], ...key]));
    const hours = this.#spread.get(device) ?? new Map();
    if (hours.size >= HOURS_REMEMBERED) hours.clear();
    this.#spread.set(device, hours.set(bucket, parts));
  }
}

/** The waiting samples of one device and one hour. They are stored as one block if it is small enough. */
export class PendingHour extends PendingRow<Hour> {
  declare device: SampleDevice;
  declare hour: Hour;

  #watch;
  #blocks;
  #place;

  constructor(
    partition: Partition,
    hour: Hour,
    {
      device,
      watch,
      blocks,
      place = blocks?.expect(device),
    }: {
      device: SampleDevice;
      watch: Pick<PartitionWatch, 'note'>;
      blocks: BlockObserver | null;
      /** default: the next place in the order of the device */
      place?: unknown;
    },
    queries?: Query[],
  ) {
    super('write_measurements', partition, ROW_WEIGHT + 1 + hour.bytes, queries);
    this.device = device;
    this.hour = hour;
    this.#watch = watch;
    this.#blocks = blocks;
    this.#place = place;
  }

  override join(hour: Hour): boolean {
    const { pieces } = this.hour;
    const width = this.messages === 1 ? pieces.length : this.hour.width;
    const isAligned = hasSensorsOf(hour.pieces, pieces, width);
    // A block has the header of each sensor once. So pieces of sensors that the row already has need no header.
    const bytes = isAligned ? hour.bytes - SERIES_BYTES * width : hour.bytes;
    if (this.hour.bytes + bytes >= MAX_BLOCK_BYTES) return false;
    // The hour is copied before samples are added, because the first message needs its own hour again if the database refuses the row.
    if (this.messages === 1) this.hour = { ...this.hour, pieces: [...pieces], isShared: true };
    this.messages++;
    this.hour.width = isAligned ? width : 0;
    this.hour.pieces.push(...hour.pieces);
    this.hour.bytes += bytes;
    this.grow(bytes);
    return true;
  }

  override toQueries() {
    const queries = encodeHour(this.partition, this.hour);
    this.#watch.note(this.device, this.hour, queries.length);
    // The real size replaces the estimate. A block is smaller if its sensors share their times, so that more rows fit into the request.
    this.bytes = 0;
    for (const { params } of queries) this.bytes += ROW_WEIGHT + (params.at(-1) as Buffer).length;
    return queries;
  }

  override settled(isCommitted: boolean) {
    this.#blocks?.settle(this.#place, this.hour.bucket, isCommitted ? this.encode() : []);
  }
}

/**
 * True: the arriving message has the same sensors as the messages of the row, in the same order.
 * @param width number of pieces of each message in the row; 0: the messages have different sensors
 */
function hasSensorsOf(arriving: Piece[], pieces: Piece[], width: number): boolean {
  if (arriving.length !== width) return false;
  for (let index = 0; index < width; index++)
    if (arriving[index]?.sensor !== pieces[index]?.sensor) return false;
  return true;
}

/**
 * Caches the partitions of the hour that was written last, and those with a row that is not sent yet. So a routing key is computed once an
 * hour. The key of the cache is the Buffer object of the device's id, which ingest keeps as long as the device is cached.
 */
export class DevicePartitions {
  #devices: WeakMap<DeviceBytes, Map<number, Partition>> = new WeakMap();

  find(device: DeviceBytes, bucket: number, part: number): Partition {
    // The sum is unique: a bucket is a multiple of an hour in ms, and parts are much smaller numbers.
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

  /** No later message may join these rows. @param part default: all parts */
  closeRows(device: DeviceBytes, part?: number) {
    for (const [key, { open }] of this.#devices.get(device) ?? [])
      if (open && (part === undefined || key - bucketOf(key) === part)) open.close();
  }
}

/** Partitions with a waiting row stay. */
function forgetHours(partitions: Map<number, Partition>, bucket: number) {
  for (const [key, { open }] of partitions) if (!open && bucketOf(key) !== bucket) partitions.delete(key);
}

/** Limit of devices whose newest hour is watched, at about 500 bytes each. */
const MAX_WATCHED = 100_000;

/**
 * Warns about partitions that grow too large for a server, once per device and hour. The writes are not
 * refused. Only writes of this process are counted, and only for the newest hour of each device.
 */
export class PartitionWatch {
  #logger;
  #onLarge;
  /** By device id as text, because ingest replaces the object of a device every ten minutes. */
  #hours: LRUCache<
    string,
    { bucket: number; parts: Map<number, { rows: number; bytes: number }>; reported: boolean }
  > = new LRUCache({ max: MAX_WATCHED });

  constructor({ logger, onLarge }: { logger: Pick<Logger, 'warn'>; onLarge: () => void }) {
    this.#logger = logger;
    this.#onLarge = onLarge;
  }

  note(
    device: SampleDevice,
    { bucket, part, bytes }: { bucket: number; part: number; bytes: number },
    rows: number,
  ) {
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

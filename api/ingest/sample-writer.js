import { someAtOnce } from '../../common/some-at-once.js';
import { isLate, MAX_BLOCK_BYTES, PARTITION_WARN, partsFor } from '../../schema/rules.js';

/** @import { Logger } from 'pino' */
/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Numbers } from '../../schema/packed/series.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { Hour, SampleWrites } from '../store/measurements/writes.js' */
/** @import { Retry } from '../store/retry.js' */
/** @import { Query } from '../store/session.js' */
/** @import { LateWriter } from './late-writer.js' */
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

/** The rows of a message. @typedef {{ hours: Hour[], parts: number }} WritePlan `parts`: number of partitions per hour of the device */

/**
 * Commits samples: one row per hour of a message. Waiting messages of the same device and hour share a row. Late samples also go into
 * history.
 *
 * @param {object} deps
 * @param {SampleWrites} deps.store
 * @param {Retry} deps.retry
 * @param {PartitionWatch} deps.partitions
 * @param {ClockGuard} deps.clock
 * @param {LateWriter} deps.late
 */
export function createSampleWriter({ store, retry, partitions, clock, late }) {
  const batches = createHourBatches({
    store,
    retry,
    onSend: (device, hour, rows) => partitions.note(device, hour, rows.length),
  });
  /** The committed number of parts, by device and hour. @type {WeakMap<Device, Map<number, number>>} */
  const spread = new WeakMap();

  /** @param {Device} device @param {number} bucket epoch ms @param {number} parts */
  async function commitParts(device, bucket, parts) {
    if (spread.get(device)?.get(bucket) === parts) return;
    await retry.run(() => store.writeParts(device.bytes, bucket, parts));
    const hours = spread.get(device) ?? new Map();
    if (hours.size >= HOURS_REMEMBERED) hours.clear();
    spread.set(device, hours.set(bucket, parts));
  }

  /** @param {Device} device @param {Hour[]} hours @param {number} parts */
  function writeHours(device, hours, parts) {
    const [only] = hours;
    if (hours.length === 1 && only && parts === 1) return batches.add(device, only);
    const buckets = parts > 1 ? new Set(hours.map(({ bucket }) => bucket)) : [];
    // Both are committed before the acknowledgement, in any order.
    return Promise.all([
      someAtOnce(HOURS_AT_ONCE, hours, (hour) => batches.add(device, hour)),
      someAtOnce(HOURS_AT_ONCE, buckets, (bucket) => commitParts(device, bucket, parts)),
    ]);
  }

  return {
    /**
     * Divides the samples of a message into rows. It does not encode them yet.
     *
     * @param {Device} device
     * @param {Series[]} series
     * @returns {WritePlan}
     */
    plan(device, series) {
      const parts = partsFor(device.sensors.size);
      return { hours: store.plan(series, parts), parts };
    },

    /**
     * @param {Device} device
     * @param {WritePlan} plan
     * @returns {Promise<void>} settles when all rows are committed
     * @throws {MillraceError} `rejected`: the database refuses these samples
     */
    async write(device, { hours, parts }) {
      await writeHours(device, hours, parts);
      // The clock is read after the commit, because a packer that read the hour before may have missed the samples.
      const time = clock.now();
      const at = typeof time === 'number' ? time : await time;
      if (hours.some(({ bucket }) => isLate(bucket, at))) await late.write(device, hours, at);
    },
  };
}

/** Remembered hours of a wide device. A backfill touches many hours. */
const HOURS_REMEMBERED = 1000;

/** @typedef {ReturnType<typeof createSampleWriter>} SampleWriter */

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
 *
 * @param {object} deps
 * @param {SampleWrites} deps.store
 * @param {Retry} deps.retry
 * @param {(device: Device, hour: Hour, queries: Query[]) => void} deps.onSend
 */
export function createHourBatches({ store, retry, onSend }) {
  /** The batches that may grow, by partition and by the Buffer of the device id, which is the same object for each message. @type {Map<Buffer, Map<number, Batch>>} */
  const open = new Map();

  /** @param {Device} device @param {Hour} hour @returns {Batch} */
  function begin(device, hour) {
    /** @type {Batch} */
    const batch = { hour, messages: 1, done: NOTHING };
    const hours = open.get(device.bytes);
    if (hours) hours.set(keyOf(hour), batch);
    else open.set(device.bytes, new Map([[keyOf(hour), batch]]));
    batch.done = send(device, batch);
    return batch;
  }

  /** @param {Buffer} device @param {Batch} batch */
  function close(device, batch) {
    const hours = open.get(device);
    if (hours?.get(keyOf(batch.hour)) !== batch) return;
    hours.delete(keyOf(batch.hour));
    if (hours.size === 0) open.delete(device);
  }

  /** @param {Device} device @param {Batch} batch */
  async function send(device, batch) {
    /** Encoded once, also when the request is retried. @type {Query[] | null} */
    let queries = null;
    const take = () => {
      if (queries) return queries;
      close(device.bytes, batch);
      queries = store.encode(device.bytes, batch.hour);
      onSend(device, batch.hour, queries);
      return queries;
    };
    try {
      const bytes = () => ROW_WEIGHT + batch.hour.bytes;
      await retry.run(() => store.commit(device.bytes, batch.hour, take, bytes));
    } finally {
      close(device.bytes, batch);
    }
  }

  return {
    /**
     * @param {Device} device
     * @param {Hour} hour of one message
     * @returns {Promise<void>} settles when it is committed
     * @throws {MillraceError} `rejected`: the database refuses these samples
     */
    async add(device, hour) {
      let batch = open.get(device.bytes)?.get(keyOf(hour));
      if (batch && batch.hour.bytes + hour.bytes < MAX_BLOCK_BYTES) {
        // The first message needs its own hour again if the database refuses the batch. So the batch grows a copy.
        if (batch.messages === 1) batch.hour = { ...batch.hour, pieces: [...batch.hour.pieces] };
        batch.messages++;
        batch.hour.pieces.push(...hour.pieces);
        batch.hour.bytes += hour.bytes;
      } else batch = begin(device, hour);
      try {
        await batch.done;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        // The database refuses another message of the batch, or the size of the batch. So each row of this message is tried alone.
        const rows = store.encode(device.bytes, hour);
        if (batch.messages === 1 && rows.length === 1) throw error;
        for (const row of rows) await retry.run(() => store.commit(device.bytes, hour, () => [row]));
      }
    },
  };
}

/** @typedef {ReturnType<typeof createHourBatches>} HourBatches */

/** A bucket is a multiple of an hour in ms, so no two partitions of a device have the same sum. @param {Hour} hour */
const keyOf = ({ bucket, part }) => bucket + part;

/** @param {unknown} error */
const isRefusal = (error) => /** @type {{ code?: string }} */ (error)?.code === 'rejected';

/**
 * Warns about partitions that grow too large for a server, once per device and hour. It never refuses data. It counts only the writes of
 * this process, and only the newest hour of each device.
 *
 * @param {{ logger: Logger, onLarge: () => void }} deps
 */
export function createPartitionWatch({ logger, onLarge }) {
  /** By device. @type {WeakMap<object, { bucket: number, parts: Map<number, { rows: number, bytes: number }>, reported: boolean }>} */
  const hours = new WeakMap();

  return {
    /**
     * @param {Device} device
     * @param {{ bucket: number, part: number, bytes: number }} hour the written part of it
     * @param {number} rows
     */
    note(device, { bucket, part, bytes }, rows) {
      let hour = hours.get(device);
      if (!hour || bucket > hour.bucket) {
        hour = { bucket, parts: new Map(), reported: false };
        hours.set(device, hour);
      }
      if (bucket !== hour.bucket) return;
      const partition = hour.parts.get(part) ?? { rows: 0, bytes: 0 };
      hour.parts.set(part, partition);
      partition.rows += rows;
      partition.bytes += bytes;
      const isLarge = partition.rows > PARTITION_WARN.rows || partition.bytes > PARTITION_WARN.bytes;
      if (hour.reported || !isLarge) return;
      hour.reported = true;
      onLarge();
      logger.warn({ device: device.id, ...partition }, 'a large partition: let this device batch longer');
    },
  };
}

/** @typedef {ReturnType<typeof createPartitionWatch>} PartitionWatch */

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
 * Requests that one message has under way at most. A message of a year's hourly samples is 8,760 of them: all at once
 * they would stand before everybody else's in the queue for permits, and weigh 75 times the message.
 */
const HOURS_AT_ONCE = 16;

/**
 * The samples of one sensor in one message, ready to be written: sorted, one per instant.
 *
 * @typedef {{ known: Sensor, sensor: Buffer, times: Numbers, values: Numbers }} Series
 */

/** The rows of a message. @typedef {{ hours: Hour[], parts: number }} WritePlan `parts`: of each hour of the device */

/**
 * Commits samples: one row for each hour that a message touches, shared with other messages of the device that wait for the
 * same hour. Samples that are late for their hour go into history, too.
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
  /** By hour, the number of parts that is committed for it. @type {WeakMap<Device, Map<number, number>>} */
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
    // Both before the acknowledgement; which of them is committed first does not matter.
    return Promise.all([
      someAtOnce(HOURS_AT_ONCE, hours, (hour) => batches.add(device, hour)),
      someAtOnce(HOURS_AT_ONCE, buckets, (bucket) => commitParts(device, bucket, parts)),
    ]);
  }

  return {
    /**
     * Divides the samples of a message by the rows that they become. Nothing is encoded yet.
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
     * @returns {Promise<void>} settles when all of it is committed
     * @throws {MillraceError} `rejected`: the database refuses these samples
     */
    async write(device, { hours, parts }) {
      await writeHours(device, hours, parts);
      // Read after the commit: a packer whose reading began before may have missed it.
      const time = clock.now();
      const at = typeof time === 'number' ? time : await time;
      if (hours.some(({ bucket }) => isLate(bucket, at))) await late.write(device, hours, at);
    },
  };
}

/** Hours of a wide device that are remembered; a backfill goes through many. */
const HOURS_REMEMBERED = 1000;

/** @typedef {ReturnType<typeof createSampleWriter>} SampleWriter */

/**
 * What leaves in one request. `hour` grows until it is sent; `messages` counts whose samples these are.
 *
 * @typedef {{ hour: Hour, messages: number, done: Promise<void> }} Batch
 */

/** Bytes that a server counts for a row beside its block, with headers and timestamps; rounded up. */
const ROW_WEIGHT = 150;

const NOTHING = Promise.resolve();

/**
 * Messages of one device and hour that wait at the same time leave as one block: one row, one request. Nothing waits for
 * company: a batch takes in what comes until the moment when it may be sent. Under load, messages of a sample each become
 * blocks of many by themselves.
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
  /** Those that may still grow, by the very Buffer of the device's id, which ingest keeps, and by partition. @type {Map<Buffer, Map<number, Batch>>} */
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
    /** Encoded once, however often the request has to be repeated. @type {Query[] | null} */
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
        // The hour of the first message is needed once more by itself: what grows is the batch's own.
        if (batch.messages === 1) batch.hour = { ...batch.hour, pieces: [...batch.hour.pieces] };
        batch.messages++;
        batch.hour.pieces.push(...hour.pieces);
        batch.hour.bytes += hour.bytes;
      } else batch = begin(device, hour);
      try {
        await batch.done;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        // The database refuses another message of the batch, or all of it for its size: each row of this message is tried alone.
        const rows = store.encode(device.bytes, hour);
        if (batch.messages === 1 && rows.length === 1) throw error;
        for (const row of rows) await retry.run(() => store.commit(device.bytes, hour, () => [row]));
      }
    },
  };
}

/** @typedef {ReturnType<typeof createHourBatches>} HourBatches */

/** A bucket is a multiple of an hour, in ms: no two partitions of a device have the same sum. @param {Hour} hour */
const keyOf = ({ bucket, part }) => bucket + part;

/** @param {unknown} error */
const isRefusal = (error) => /** @type {{ code?: string }} */ (error)?.code === 'rejected';

/**
 * Notices partitions that grow too large: one device's hour past what a server is comfortable with. It warns and
 * counts, once an hour and device, and never refuses: the data is worth more than the warning. Only what this process
 * writes is counted, and only the newest hour of each device.
 *
 * @param {{ logger: Logger, onLarge: () => void }} deps
 */
export function createPartitionWatch({ logger, onLarge }) {
  /** By device. @type {WeakMap<object, { bucket: number, parts: Map<number, { rows: number, bytes: number }>, reported: boolean }>} */
  const hours = new WeakMap();

  return {
    /**
     * @param {Device} device
     * @param {{ bucket: number, part: number, bytes: number }} hour what is written of it
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

/** The rules that size buckets and batches. Limits of the servers: ScyllaDB 2026.1 and Cassandra 4.1 to 5.0. */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Samples in one row of `history`, a packed hour; a sensor of more than 18 a second has several rows. */
export const MAX_SAMPLES_PER_HISTORY_ROW = 65_536;

/** Samples in one message; more is a dead letter `too_large`. */
export const MAX_SAMPLES_PER_MESSAGE = 10_000;

/** Sensors of one device. */
export const MAX_SENSORS_PER_DEVICE = 10_000;

/** Statements in one batch of the registry: 256 rows of about 60 bytes stay far below what a server calls large. */
export const MAX_STATEMENTS_PER_BATCH = 256;

/** Entries in one group commit, such as sensors with a new value: about 50 bytes each, 100 kB in one partition of one table. */
export const MAX_ENTRIES_PER_GROUP_COMMIT = 2000;

/**
 * The limits of the servers by default. Both weigh a batch only if it has more than one mutation (table x partition). Those of the write
 * merger may have several, and stay below `bytes`: see `api/store/sending/batch-limits.js`. All others have one. Only the last limit, half a
 * segment of the commit log, applies to one mutation.
 */
export const BATCH_LIMITS = {
  statements: 65_535,
  bytes: { cassandra: 50 * 1024, scylla: 1024 * 1024 },
  mutationBytes: 16 * 1024 * 1024,
};

/** Size of a partition from which ingest warns and counts. It never refuses a message for it. */
export const PARTITION_WARN = { bytes: 100e6, rows: 100_000 };

/** The largest partition of a usual device. */
export const PARTITION_AIM = { bytes: 10e6, rows: 50_000 };

/** Retention of dead letters, in days. */
export const DEAD_LETTER_DAYS = 14;

/** Partitions that the dead letters of one hour are spread over. */
export const DEAD_LETTER_SHARDS = 16;

/**
 * The definitions of a Sparkplug birth are kept as long as history. A birth writes them again after this share of that time. So a node
 * with rare births stays known, and a node with a birth every minute does not fill its partition.
 */
export const BIRTH_REPEAT_SHARE = 1 / 4;

/** Retention, in days, of the notes that a day has to be packed once more. */
export const LATE_DAY_DAYS = 14;

/** Retention, in days, of the notes about blocks in Kafka. An hour that is completed later is sent whole. */
export const STREAM_NOTE_DAYS = 14;

/** Retention of baselines, in days. Processes read those of the present day and of the days next to it. */
export const BASELINE_DAYS = 7;

/** Fewest days that batches must be kept. A packer that was down over a weekend still finds its batches. */
export const MIN_BATCH_DAYS = 4;

/**
 * An hour closes this long after its end, in ms. Then it is packed. This is a constant, not a setting, because all processes
 * must agree on the messages that are late.
 */
export const PACK_DELAY_MS = HOUR_MS;

/**
 * A message that is committed this long before its hour closes, or later, in ms, is late for that hour. The margin is more than twice the tolerated
 * clock difference (MOST_CLOCK_DIFFERENCE_MS). So a packer whose clock is ahead still finds every message that another process took as timely.
 */
export const LATE_MARGIN_MS = 5 * 60_000;

/** A process whose clock differs from the database's by more than this, in ms, neither acknowledges nor packs. */
export const MOST_CLOCK_DIFFERENCE_MS = 60_000;

/** Packing begins this time before the first migration, in ms. Older samples are late for their hour. */
export const PACKED_BEFORE_START_MS = 3 * HOUR_MS;

/** @param {number} ts epoch ms @returns {number} epoch ms of the start of its hour: the bucket */
export const bucketOf = (ts) => floorTo(ts, HOUR_MS);

/** @param {number} ts epoch ms @returns {number} epoch ms of the start of its UTC day */
export const dayOf = (ts) => floorTo(ts, DAY_MS);

/** @param {number} ts epoch ms @returns {number} epoch ms of the start of its UTC month */
export const monthOf = (ts) => nthMonthAfter(ts, 0);

/** @param {number} ts epoch ms @returns {number} epoch ms of the start of the UTC month after its own */
export const nextMonthOf = (ts) => nthMonthAfter(ts, 1);

/** @param {number} ts epoch ms @returns {number} its UTC year */
export const yearOf = (ts) => new Date(ts).getUTCFullYear();

/** @param {number} bucket epoch ms @returns {number} epoch ms at which the hour closes */
export const closingOf = (bucket) => bucket + HOUR_MS + PACK_DELAY_MS;

/** @param {number} day epoch ms of its start @returns {number} epoch ms from which its hours are looked at a second time: a day after the last of them closed */
export const settlingOf = (day) => closingOf(day + DAY_MS - HOUR_MS) + DAY_MS;

/** @param {number} bucket epoch ms @param {number} at epoch ms of the commit @returns {boolean} whether it came too late to be packed with its hour */
export const isLate = (bucket, at) => at >= closingOf(bucket) - LATE_MARGIN_MS;

/**
 * @param {{ readFrom: number | null, lateAt: number | null }} row of `history_stat`, epoch ms
 * @returns {boolean} whether its statistics are of all samples of the hour: none came so late that they may be missing
 */
export const isExact = ({ readFrom, lateAt }) =>
  readFrom !== null && (lateAt === null || lateAt < readFrom - LATE_MARGIN_MS);

/** @param {number} ts epoch ms @param {number} months */
function nthMonthAfter(ts, months) {
  const date = new Date(ts);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}

/** @param {number} ts @param {number} step ms */
const floorTo = (ts, step) => ts - (((ts % step) + step) % step);

/** Bytes of a row of one sample on disk, before compression, in the tables that Millrace is compared with, rounded up. */
export const SAMPLE_ROW_BYTES = 60;

/**
 * Size of a row of `message` on disk without its block, before compression: clustering key, row header, TTL and cell flags.
 * Cassandra 5.0 wrote 29 bytes for a block of one sample, 31 for 1x60 and 4x10, 35 for 50x1.
 */
export const MESSAGE_ROW_BYTES = 36;

/**
 * The rows and bytes that one message adds to an hour of a device.
 *
 * @param {{ sensors: number, samples: number }} message `samples` of each sensor, all sensors at the same instants
 * @returns {{ rows: number, bytes: number }} rows, and bytes before compression
 */
export function messageWeight({ sensors, samples }) {
  const shared = blockBytes({ sensors, samples });
  // Blocks are cut as if no two sensors shared their times. If a series is cut, its sensor no longer shares them.
  const most = sensors * blockBytes({ sensors: 1, samples });
  const rows = Math.ceil(most / MAX_BLOCK_BYTES);
  return { rows, bytes: (rows > 1 ? most : shared) + rows * MESSAGE_ROW_BYTES };
}

/**
 * Size of the largest partition of one hour of a device in `message`, to be compared with PARTITION_AIM and PARTITION_WARN.
 * 20 sensors at a message a second are within the aim, whatever the number of their devices. A device beyond the aim should
 * batch for longer.
 *
 * @param {{ sensors: number, intervalMs: number, batchMs: number }} device each sensor has a sample every `intervalMs`,
 *   the device a message every `batchMs`
 * @returns {{ rows: number, bytes: number }} rows, and bytes before compression
 */
export function partitionPerHour({ sensors, intervalMs, batchMs }) {
  const { rows, bytes } = devicePerHour({
    sensors: Math.ceil(sensors / partsFor(sensors)),
    intervalMs,
    batchMs,
  });
  return { rows, bytes };
}

/**
 * The size of a device as a whole, in all partitions of its hour.
 *
 * @param {{ sensors: number, intervalMs: number, batchMs: number }} device
 * @returns {{ rows: number, bytes: number, partitions: number }}
 */
export function devicePerHour({ sensors, intervalMs, batchMs }) {
  // A device that measures less often than it might send has nothing to send in between.
  const everyMs = Math.max(intervalMs, batchMs);
  const messages = Math.ceil(HOUR_MS / everyMs);
  // An hour gets only its own samples of a message that is longer than an hour.
  const samples = Math.max(1, Math.round(Math.min(everyMs, HOUR_MS) / intervalMs));
  const parts = partsFor(sensors);
  const { rows, bytes } = messageWeight({ sensors: sensors / parts, samples });
  return { rows: messages * parts * rows, bytes: messages * parts * bytes, partitions: parts };
}

/** The layout of the samples of a device in one hour in rows of `message`: bounds, and the arithmetic of their sizes. */

/** Bytes of one block at most: a row of this size is still far below what a server calls a large mutation. */
export const MAX_BLOCK_BYTES = 32 * 1024;

/** Sensors that one partition of `message` holds, more or less: a reader of one sensor reads the rows of all of them. */
export const SENSORS_PER_PART = 64;

/** Bytes of the parts of a block: see the drawing in block.js. */
export const ID_BYTES = 16;
export const COUNT_BYTES = 2;
export const TIME_BYTES = 4;
export const VALUE_BYTES = 8;
export const SERIES_BYTES = ID_BYTES + COUNT_BYTES;

/**
 * @param {number} sensors of a device
 * @returns {number} parts that an hour of it is spread over, a power of two; 1: all of it is in part 0
 */
export const partsFor = (sensors) =>
  sensors <= SENSORS_PER_PART ? 1 : 2 ** Math.ceil(Math.log2(sensors / SENSORS_PER_PART));

/**
 * @param {{ sensors: number, samples: number }} message `samples` of each sensor, all sensors at the same instants
 * @returns {number} bytes of its block
 */
export const blockBytes = ({ sensors, samples }) =>
  1 + sensors * (SERIES_BYTES + VALUE_BYTES * samples) + TIME_BYTES * samples;

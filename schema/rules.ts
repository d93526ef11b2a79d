/** Limits and sizes of buckets, messages and batches. The limits of the servers are those of ScyllaDB 2026.1 and Cassandra 4.1 to 5.0. */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Maximum number of samples in a row of `history`, a packed hour. An hour with more than 18 samples per second takes several rows. */
export const MAX_SAMPLES_PER_HISTORY_ROW = 65_536;

/** Maximum number of samples in one message. A message with more samples becomes a dead letter with the code `too_large`. */
export const MAX_SAMPLES_PER_MESSAGE = 10_000;

/** Maximum number of sensors of one device. Ingest refuses further sensors. */
export const MAX_SENSORS_PER_DEVICE = 10_000;

/** Maximum number of statements in a batch that is written outside the path of measurements. */
export const MAX_STATEMENTS_PER_BATCH = 256;

/** Maximum size of a request with several statements, in bytes. */
export const MAX_REQUEST_BYTES = 256 * 1024;

/**
 * Maximum number of entries in a group commit, such as new sensor values. An entry with an instant of its own is a statement of 125 bytes,
 * so a request has at most 2,000 statements and 250 kB.
 */
export const MAX_ENTRIES_PER_GROUP_COMMIT = 2000;

/**
 * Maximum number of latest values of one message in a group commit. The values of a wider message follow in further commits, between which
 * other devices of the group write theirs.
 */
export const MAX_ENTRIES_PER_MESSAGE = 1000;

/**
 * The default batch limits of Cassandra and ScyllaDB. Both servers apply `statements` and `bytes` only to a batch with more than one
 * mutation (one per table and partition). Only batches of the write merger have several mutations, and they stay below `bytes`: see
 * `api/store/sending/batch-limits.ts`. `mutationBytes` limits a single mutation: half a segment of the commit log.
 */
export const BATCH_LIMITS = {
  statements: 65_535,
  bytes: { cassandra: 50 * 1024, scylla: 1024 * 1024 },
  mutationBytes: 16 * 1024 * 1024,
};

/** Partition size from which ingest logs a warning and counts the partition. Ingest never refuses a message because of the size. */
export const PARTITION_WARN = { bytes: 100e6, rows: 100_000 };

/** The maximum partition size that a usual device should reach. */
export const PARTITION_AIM = { bytes: 10e6, rows: 50_000 };

/** Retention of dead letters, in days. */
export const DEAD_LETTER_DAYS = 14;

/** Number of partitions over which the dead letters of one hour are distributed. */
export const DEAD_LETTER_SHARDS = 16;

/**
 * The metric definitions of a Sparkplug birth have the retention of history. A birth writes them again only after this fraction of the
 * retention. So a node with rare births stays known, and a node with a birth every minute does not fill its partition.
 */
export const BIRTH_REPEAT_SHARE = 1 / 4;

/** Retention, in days, of the rows that request another packing of a day. */
export const LATE_DAY_DAYS = 14;

/** Retention, in days, of the rows that list the blocks already in Kafka. If an hour is completed later, all its blocks are sent again. */
export const STREAM_NOTE_DAYS = 14;

/** Retention of baselines, in days. Processes read the baselines of the current day and of the days before and after it. */
export const BASELINE_DAYS = 7;

/** Minimum retention of batches, in days. So a packer that was down over a weekend still finds its batches. */
export const MIN_BATCH_DAYS = 4;

/**
 * An hour closes this time after its end, in ms. Then a process packs it. This is a constant, not a setting, because all processes must
 * agree which messages are late.
 */
export const PACK_DELAY_MS = HOUR_MS;

/**
 * A message is late if it is committed less than this time before its hour closes, or after that, in ms. The margin is more than twice the
 * tolerated clock difference (MOST_CLOCK_DIFFERENCE_MS). So a packer whose clock is ahead still finds every message that another process
 * considered timely.
 */
export const LATE_MARGIN_MS = 5 * 60_000;

/** If the clocks of a process and the database differ by more than this, in ms, the process neither acknowledges nor packs. */
export const MOST_CLOCK_DIFFERENCE_MS = 60_000;

/** The first packed hour is this time before the first migration, in ms. Samples of older hours are late for their hour. */
export const PACKED_BEFORE_START_MS = 3 * HOUR_MS;

/** @param ts epoch ms @returns the bucket: start of the hour that contains `ts`, in epoch ms */
export const bucketOf = (ts: number): number => floorTo(ts, HOUR_MS);

/** @param ts epoch ms @returns start of the UTC day that contains `ts`, in epoch ms */
export const dayOf = (ts: number): number => floorTo(ts, DAY_MS);

/** @param ts epoch ms @returns start of the UTC month that contains `ts`, in epoch ms */
export const monthOf = (ts: number): number => nthMonthAfter(ts, 0);

/** @param ts epoch ms @returns start of the UTC month after that of `ts`, in epoch ms */
export const nextMonthOf = (ts: number): number => nthMonthAfter(ts, 1);

/** @param ts epoch ms @returns UTC year of `ts` */
export const yearOf = (ts: number): number => new Date(ts).getUTCFullYear();

/** @param bucket start of the hour, in epoch ms @returns time at which the hour closes, in epoch ms */
export const closingOf = (bucket: number): number => bucket + HOUR_MS + PACK_DELAY_MS;

/**
 * @param day start of the day, in epoch ms
 * @returns time from which packing checks the hours of the day a second time, in epoch ms: one day after its last hour closes
 */
export const settlingOf = (day: number): number => closingOf(day + DAY_MS - HOUR_MS) + DAY_MS;

/**
 * @param bucket start of the hour, in epoch ms
 * @param at time of the commit, in epoch ms
 * @returns whether the message came too late to be packed with its hour
 */
export const isLate = (bucket: number, at: number): boolean => at >= closingOf(bucket) - LATE_MARGIN_MS;

/**
 * @param row a row of `history_stat`: the start of the read of its samples, and the commit of the newest late samples, both in epoch ms
 * @returns whether the statistics include all samples of the hour; false: late samples may be missing
 */
export const isExact = ({ readFrom, lateAt }: { readFrom: number | null; lateAt: number | null }): boolean =>
  readFrom !== null && (lateAt === null || lateAt < readFrom - LATE_MARGIN_MS);

/** @param ts epoch ms */
function nthMonthAfter(ts: number, months: number) {
  const date = new Date(ts);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}

/** @param step ms */
const floorTo = (ts: number, step: number) => ts - (((ts % step) + step) % step);

/** Size of a row on disk in a table with one row per sample, for comparison with Millrace: bytes before compression, rounded up. */
export const SAMPLE_ROW_BYTES = 60;

/**
 * Size of a row of `message` on disk without its block, before compression: clustering key, row header, TTL and cell flags.
 * Cassandra 5.0 wrote 29 bytes for a block of one sample, 31 for 1 sensor x 60 samples and 4 x 10, 35 for 50 x 1.
 */
export const MESSAGE_ROW_BYTES = 36;

/**
 * Returns the number of rows and bytes that one message adds to an hour of a device.
 * @param message `samples`: number of samples per sensor; all sensors have the same times
 * @returns `bytes`: before compression
 */
export function messageWeight({ sensors, samples }: { sensors: number; samples: number }): {
  rows: number;
  bytes: number;
} {
  const shared = blockBytes({ sensors, samples });
  // `splitBlocks` assumes that no two sensors share their times. If it cuts a series, this sensor really shares its times no longer.
  const most = sensors * blockBytes({ sensors: 1, samples });
  const rows = Math.ceil(most / MAX_BLOCK_BYTES);
  return { rows, bytes: (rows > 1 ? most : shared) + rows * MESSAGE_ROW_BYTES };
}

/**
 * Returns the size of the largest partition of one hour of a device in `message`, for comparison with PARTITION_AIM and PARTITION_WARN. A
 * device with 20 sensors and one message per second is within the aim, whatever the number of devices. A device beyond the aim should
 * send larger batches less often.
 * @param device each sensor has a sample every `intervalMs`, the device a message every `batchMs`
 * @returns rows, and bytes before compression
 */
export function partitionPerHour({
  sensors,
  intervalMs,
  batchMs,
}: {
  sensors: number;
  intervalMs: number;
  batchMs: number;
}): { rows: number; bytes: number } {
  const { rows, bytes } = devicePerHour({
    sensors: Math.ceil(sensors / partsFor(sensors)),
    intervalMs,
    batchMs,
  });
  return { rows, bytes };
}

/** Returns the size of one hour of a device in all its partitions of `message`. */
export function devicePerHour({
  sensors,
  intervalMs,
  batchMs,
}: {
  sensors: number;
  intervalMs: number;
  batchMs: number;
}): { rows: number; bytes: number; partitions: number } {
  // If a device measures less often than it could send, it sends only when it has a new sample.
  const everyMs = Math.max(intervalMs, batchMs);
  const messages = Math.ceil(HOUR_MS / everyMs);
  // If a message spans more than an hour, each hour gets only its own samples of the message.
  const samples = Math.max(1, Math.round(Math.min(everyMs, HOUR_MS) / intervalMs));
  const parts = partsFor(sensors);
  const { rows, bytes } = messageWeight({ sensors: sensors / parts, samples });
  return { rows: messages * parts * rows, bytes: messages * parts * bytes, partitions: parts };
}

// The rest of this module describes how the samples of a device in one hour are laid out in rows of `message`: limits and sizes.

/** Maximum size of one block, in bytes. A row of this size is still far below the mutation size limit of a server. */
export const MAX_BLOCK_BYTES = 32 * 1024;

/** Approximate number of sensors per partition of `message`. It is limited, because a query for one sensor reads the rows of all. */
export const SENSORS_PER_PART = 64;

/** Sizes of the fields of a block, in bytes: see the drawing in block.ts. */
export const ID_BYTES = 16;
export const COUNT_BYTES = 2;
export const TIME_BYTES = 4;
export const VALUE_BYTES = 8;
export const SERIES_BYTES = ID_BYTES + COUNT_BYTES;

/**
 * @param sensors number of sensors of a device
 * @returns number of partitions (parts) for one hour of the device, a power of two; 1: all rows are in part 0
 */
export const partsFor = (sensors: number): number =>
  sensors <= SENSORS_PER_PART ? 1 : 2 ** Math.ceil(Math.log2(sensors / SENSORS_PER_PART));

/**
 * @param message `samples`: number of samples per sensor; all sensors have the same times
 * @returns size of the block of the message, in bytes
 */
export const blockBytes = ({ sensors, samples }: { sensors: number; samples: number }): number =>
  1 + sensors * (SERIES_BYTES + VALUE_BYTES * samples) + TIME_BYTES * samples;

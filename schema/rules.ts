/** The limits of the servers are those of ScyllaDB 2026.1 and Cassandra 4.1 to 5.0. */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** An hour with more than 18 samples per second takes several rows. */
export const MAX_SAMPLES_PER_HISTORY_ROW = 65_536;

/** A message with more samples becomes a dead letter with the code `too_large`. */
export const MAX_SAMPLES_PER_MESSAGE = 10_000;

/** Ingest refuses further sensors of a device. */
export const MAX_SENSORS_PER_DEVICE = 10_000;

export const MAX_STATEMENTS_PER_BATCH = 256;

export const MAX_REQUEST_BYTES = 256 * 1024;

/** An entry with an instant of its own is a statement of 125 bytes, so a request has at most 2,000 statements and 250 kB. */
export const MAX_ENTRIES_PER_GROUP_COMMIT = 2000;

/** In a group commit. The values of a wider message follow in further commits, between which other devices of the group write theirs. */
export const MAX_ENTRIES_PER_MESSAGE = 1000;

/**
 * The defaults of Cassandra and ScyllaDB. Both servers apply `statements` and `bytes` only to a batch with more than one mutation (one per
 * table and partition). Only batches of the write merger have several mutations, and they stay below `bytes`: see
 * `api/store/sending/batch-limits.ts`. `mutationBytes` limits a single mutation: half a segment of the commit log.
 */
export const BATCH_LIMITS = {
  statements: 65_535,
  bytes: { cassandra: 50 * 1024, scylla: 1024 * 1024 },
  mutationBytes: 16 * 1024 * 1024,
};

/** Ingest logs a warning and counts the partition. It never refuses a message because of the size. */
export const PARTITION_WARN = { bytes: 100e6, rows: 100_000 };

export const PARTITION_AIM = { bytes: 10e6, rows: 50_000 };

export const DEAD_LETTER_DAYS = 14;

export const DEAD_LETTER_SHARDS = 16;

/** Retention of the rows that request another packing of a day. */
export const LATE_DAY_DAYS = 14;

/** Retention of the rows that list the blocks already in Kafka. If an hour is completed later, all its blocks are sent again. */
export const STREAM_NOTE_DAYS = 14;

/** Processes read the baselines of the current day and of the days before and after it. */
export const BASELINE_DAYS = 7;

/** A correction can be undone for this time. */
export const UNDO_DAYS = 7;

/** After this time a packer deletes the samples that a correction has replaced or removed. A day is for an undo that is under way. */
export const PURGE_DAYS = UNDO_DAYS + 1;

/** So a packer that was down over a weekend still finds its batches. */
export const MIN_BATCH_DAYS = 4;

/** An hour closes this time after its end. A constant, not a setting: all processes must agree which messages are late. */
export const PACK_DELAY_MS = HOUR_MS;

/**
 * A message is late if it is committed less than this time before its hour closes, or after that. The margin is more
 * than twice the tolerated clock difference (MOST_CLOCK_DIFFERENCE_MS). So a packer whose clock is ahead still finds
 * every message that another process considered timely.
 */
export const LATE_MARGIN_MS = 5 * 60_000;

/** If its clock differs by more from the database's, a process neither acknowledges nor packs. */
export const MOST_CLOCK_DIFFERENCE_MS = 60_000;

/** The first packed hour is this time before the first migration. Samples of older hours are late for their hour. */
export const PACKED_BEFORE_START_MS = 3 * HOUR_MS;

export const bucketOf = (ts: number): number => floorTo(ts, HOUR_MS);

export const dayOf = (ts: number): number => floorTo(ts, DAY_MS);

export const monthOf = (ts: number): number => nthMonthAfter(ts, 0);

export const nextMonthOf = (ts: number): number => nthMonthAfter(ts, 1);

export const yearOf = (ts: number): number => new Date(ts).getUTCFullYear();

/** In epoch ms. @param bucket start of the hour */
export const closingOf = (bucket: number): number => bucket + HOUR_MS + PACK_DELAY_MS;

/** Epoch ms from which packing checks the hours of the day a second time: one day after its last hour closes. */
export const settlingOf = (day: number): number => closingOf(day + DAY_MS - HOUR_MS) + DAY_MS;

/** The message came too late to be packed with its hour. @param at epoch ms of the commit */
export const isLate = (bucket: number, at: number): boolean => at >= closingOf(bucket) - LATE_MARGIN_MS;

/** False: late samples may be missing. @param row start of the read of its samples, and commit of the newest late samples */
export const isExact = ({ readFrom, lateAt }: { readFrom: number | null; lateAt: number | null }): boolean =>
  readFrom !== null && (lateAt === null || lateAt < readFrom - LATE_MARGIN_MS);

function nthMonthAfter(ts: number, months: number) {
  const date = new Date(ts);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}

const floorTo = (ts: number, step: number) => ts - (((ts % step) + step) % step);

/** On disk without the block. Cassandra 5.0 wrote 29 bytes for a block of one sample, 31 for 1 sensor x 60 samples, 35 for 50 x 1. */
export const MESSAGE_ROW_BYTES = 36;

/** @param message `samples`: per sensor; all sensors have the same times @returns bytes before compression */
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
 * For comparison with PARTITION_AIM and PARTITION_WARN. A device with 20 sensors and one message per second is within
 * the aim, whatever the number of devices. A device beyond the aim should send larger batches less often.
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

/** A row of this size is still far below the mutation size limit of a server. */
export const MAX_BLOCK_BYTES = 32 * 1024;

/** Approximate. It is limited, because a query for one sensor reads the rows of all sensors of its part. */
export const SENSORS_PER_PART = 64;

export const ID_BYTES = 16;
export const COUNT_BYTES = 2;
export const TIME_BYTES = 4;
export const VALUE_BYTES = 8;
export const SERIES_BYTES = ID_BYTES + COUNT_BYTES;

/** Parts (partitions) for one hour of a device: a power of two; 1: all rows are in part 0. */
export const partsFor = (sensors: number): number =>
  sensors <= SENSORS_PER_PART ? 1 : 2 ** Math.ceil(Math.log2(sensors / SENSORS_PER_PART));

/** @param message `samples`: per sensor; all sensors have the same times */
export const blockBytes = ({ sensors, samples }: { sensors: number; samples: number }): number =>
  1 + sensors * (SERIES_BYTES + VALUE_BYTES * samples) + TIME_BYTES * samples;

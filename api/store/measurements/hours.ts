import { groupOf, type SensorBytes } from '../../../schema/ids.ts';
import {
  mergePieces,
  newestOf,
  type Piece,
  packBlock,
  packMessages,
  pieceBytes,
  splitBlocks,
} from '../../../schema/packed/block.ts';
import { digestOf } from '../../../schema/packed/pack.ts';
import type { Numbers } from '../../../schema/packed/series.ts';
import { bucketOf, HOUR_MS, MAX_BLOCK_BYTES } from '../../../schema/rules.ts';
import { int64 } from '../cql-values.ts';
import type { Partition } from '../sending/pending-rows.ts';
import type { Query } from '../sending/session.ts';

const INSERT = 'INSERT INTO message (device_id, bucket, part, ts, digest, samples) VALUES (?, ?, ?, ?, ?, ?)';

/**
 * Sorted by time, with distinct times. If `from` is 0 and `to` is the number of samples, the object itself is
 * used as a piece of an hour, without a copy.
 */
export type SensorSeries = {
  sensor: SensorBytes;
  times: Numbers;
  values: Numbers;
  from?: number;
  to?: number;
};

/**
 * The samples that one or several messages of a device have in one partition of `message`: one hour, and one
 * part of the sensors if the device has many.
 */
export interface Hour {
  /** epoch ms of the hour's start */
  bucket: number;
  /** number of the part of the sensors; 0: all sensors */
  part: number;
  pieces: Piece[];
  /** upper limit of the size of the pieces in an encoded block, without the first byte of the block */
  bytes: number;
  /** whether the pieces come from several messages. Pieces of one message belong to different sensors */
  isShared: boolean;
  /**
   * number of pieces of each message, if the pieces come from several messages that all have the same sensors
   * in the same order; otherwise 0
   */
  width: number;
}

/**
 * Divides the samples of a message by partition, earlier hours first. Nearly always all samples are in one partition.
 * @param parts number of parts over which the device's sensors are spread: see `partsFor` in schema/rules.ts
 */
export function planHours(message: SensorSeries[], parts: number): Hour[] {
  const hours: Hour[] = [];
  /** Only a message with several partitions needs this map. */
  let byKey: Map<number, Hour> | null = null;
  for (const series of message) {
    const { sensor, times, values } = series;
    const part = parts === 1 ? 0 : partOf(sensor, parts);
    for (let from = 0; from < times.length; ) {
      const time = times[from] as number;
      // Nearly always the sample is in the hour of the first sample. Computing the hour takes two divisions of large numbers.
      let hour = hours[0] && isIn(hours[0], part, time) ? hours[0] : undefined;
      if (!hour) {
        const bucket = bucketOf(time);
        // The sum is unique: a bucket is a multiple of an hour in ms, and parts are much smaller numbers.
        const key = bucket + part;
        hour = byKey?.get(key);
        if (!hour) {
          hour = { bucket, part, pieces: [], bytes: 0, isShared: false, width: 0 };
          if (hours.push(hour) > 1) byKey = (byKey ?? new Map()).set(key, hour);
        }
      }
      const to = endOfHour(times, hour.bucket + HOUR_MS, from + 1);
      // Nearly always the piece is the whole series. Using the series itself saves 50 objects for a message of 50
      // sensors. They would live until the commit.
      const piece = isPiece(series, from, to) ? series : { sensor, times, values, from, to };
      hour.pieces.push(piece);
      hour.bytes += pieceBytes(piece);
      from = to;
    }
  }
  // The second sensor may begin an hour earlier than the first one.
  return hours.length > 1 ? hours.sort((a, b) => a.bucket - b.bucket) : hours;
}

const isPiece = (series: SensorSeries, from: number, to: number): series is Piece =>
  series.from === from && series.to === to;

const isIn = (hour: Hour, part: number, time: number): boolean =>
  hour.part === part && time >= hour.bucket && time < hour.bucket + HOUR_MS;

/** Returns the index of the first time at or after `end`. `times` ascend. @param low index at which the search begins */
function endOfHour(times: Numbers, end: number, low: number) {
  // Nearly always the whole message belongs to one hour.
  if ((times[times.length - 1] as number) < end) return times.length;
  let index = low;
  while ((times[index] as number) < end) index++;
  return index;
}

/** @returns rows of `message`; equal pieces give equal rows */
export function encodeHour({ key }: Partition, { bucket, pieces, bytes, isShared, width }: Hour): Query[] {
  const packed = width > 0 ? packMessages(bucket, pieces, width) : null;
  if (packed) return [rowOf(key, pieces, packed)];
  // Merging 50 sensors takes a map and 50 lists. So pieces are merged only if they come from several messages.
  const merged = isShared ? mergePieces(pieces) : pieces;
  if (bytes < MAX_BLOCK_BYTES) return [rowOf(key, merged, packBlock(bucket, merged))];
  return splitBlocks(merged).map((block) => rowOf(key, block, packBlock(bucket, block)));
}

/** Blocks of the samples of one hour, as rows of `message` have them. */
export function blocksOfHour(message: SensorSeries[], bucket: number): Buffer[] {
  const pieces = planHours(message, 1).find((hour) => hour.bucket === bucket)?.pieces;
  return pieces ? splitBlocks(pieces).map((block) => packBlock(bucket, block)) : [];
}

/** @param key three columns */
const rowOf = (key: Buffer[], pieces: Piece[], samples: Buffer): Query => ({
  query: INSERT,
  params: [key[0], key[1], key[2], int64(newestOf(pieces)), digestOf(samples), samples],
});

export const partOf = (sensor: Uint8Array, parts: number): number => 1 + groupOf(sensor, parts);

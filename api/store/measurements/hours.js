import { groupOf } from '../../../schema/ids.js';
import {
  mergePieces,
  newestOf,
  packBlock,
  packMessages,
  pieceBytes,
  splitBlocks,
} from '../../../schema/packed/block.js';
import { digestOf } from '../../../schema/packed/pack.js';
import { bucketOf, HOUR_MS, MAX_BLOCK_BYTES } from '../../../schema/rules.js';
import { int64 } from '../cql-encoding.js';

/** @import { Piece } from '../../../schema/packed/block.js' */
/** @import { Numbers } from '../../../schema/packed/series.js' */
/** @import { Partition } from '../sending/pending-rows.js' */
/** @import { Query } from '../sending/session.js' */

const INSERT = 'INSERT INTO message (device_id, bucket, part, ts, digest, samples) VALUES (?, ?, ?, ?, ?, ?)';

/**
 * The samples of one sensor in one message: sorted, one per instant. If `from` is 0 and `to` is the number of
 * samples, the object itself can be a piece of its hour, without a copy.
 *
 * @typedef {{ sensor: Buffer, times: Numbers, values: Numbers, from?: number, to?: number }} SensorSeries
 */

/**
 * The samples of one or several messages of a device in one partition of `message`: one hour, and one part of the
 * sensors.
 *
 * @typedef {object} Hour
 * @property {number} bucket epoch ms
 * @property {number} part
 * @property {Piece[]} pieces
 * @property {number} bytes upper limit of the size of these pieces in a block, without the first byte of the block
 * @property {boolean} isShared whether the pieces come from several messages. Pieces of one message belong to
 *   different sensors
 * @property {number} width number of pieces of each message, if the pieces come from several messages that all
 *   have the same sensors in the same order; otherwise 0
 */

/**
 * Divides the samples of a message by partition. Nearly always they are in one partition.
 *
 * @param {SensorSeries[]} message
 * @param {number} parts of the device, see `partsFor` in schema/rules.js
 * @returns {Hour[]}
 */
export function planHours(message, parts) {
  /** @type {Hour[]} */
  const hours = [];
  /** Only a message with several partitions needs this map. @type {Map<number, Hour> | null} */
  let byKey = null;
  for (const series of message) {
    const { sensor, times, values } = series;
    const part = parts === 1 ? 0 : partOf(sensor, parts);
    for (let from = 0; from < times.length; ) {
      const time = /** @type {number} */ (times[from]);
      // Nearly always the sample is in the hour of the first sample. Computing the hour takes two divisions
      // of large numbers.
      let hour = hours[0] && isIn(hours[0], part, time) ? hours[0] : undefined;
      if (!hour) {
        const bucket = bucketOf(time);
        // A bucket is a multiple of an hour, in ms, so no two partitions have the same sum.
        const key = bucket + part;
        hour = byKey?.get(key);
        if (!hour) {
          hour = { bucket, part, pieces: [], bytes: 0, isShared: false, width: 0 };
          if (hours.push(hour) > 1) byKey = (byKey ?? new Map()).set(key, hour);
        }
      }
      const to = endOfHour(times, hour.bucket + HOUR_MS, from + 1);
      // Nearly always the piece is the whole series. Using the series itself saves a message of 50 sensors 50
      // objects, which would live until its commit.
      const piece = isPiece(series, from, to) ? series : { sensor, times, values, from, to };
      hour.pieces.push(piece);
      hour.bytes += pieceBytes(piece);
      from = to;
    }
  }
  return hours;
}

/** @param {SensorSeries} series @param {number} from @param {number} to @returns {series is Piece} whether it is the piece with these bounds */
const isPiece = (series, from, to) => series.from === from && series.to === to;

/**
 * @param {Hour} hour
 * @param {number} part
 * @param {number} time epoch ms
 * @returns {boolean} whether a sample of this part and time belongs to the hour
 */
const isIn = (hour, part, time) => hour.part === part && time >= hour.bucket && time < hour.bucket + HOUR_MS;

/**
 * @param {Numbers} times epoch ms, strictly ascending
 * @param {number} end epoch ms
 * @param {number} low index to begin at
 */
function endOfHour(times, end, low) {
  // Nearly always the whole message belongs to one hour.
  if (/** @type {number} */ (times[times.length - 1]) < end) return times.length;
  let index = low;
  while (/** @type {number} */ (times[index]) < end) index++;
  return index;
}

/**
 * @param {Partition} partition of the hour
 * @param {Hour} hour of one message, or of several
 * @returns {Query[]} the rows of the hour; equal pieces give equal rows
 */
export function encodeHour({ key }, { bucket, pieces, bytes, isShared, width }) {
  const packed = width > 0 ? packMessages(bucket, pieces, width) : null;
  if (packed) return [rowOf(key, pieces, packed)];
  // Merging 50 sensors takes a map and 50 lists. So only hours of several messages are merged.
  const merged = isShared ? mergePieces(pieces) : pieces;
  if (bytes < MAX_BLOCK_BYTES) return [rowOf(key, merged, packBlock(bucket, merged))];
  return splitBlocks(merged).map((block) => rowOf(key, block, packBlock(bucket, block)));
}

/** @param {Buffer[]} key of the partition: three columns @param {Piece[]} pieces @param {Buffer} samples their block @returns {Query} */
const rowOf = (key, pieces, samples) => ({
  query: INSERT,
  params: [key[0], key[1], key[2], int64(newestOf(pieces)), digestOf(samples), samples],
});

/** @param {Uint8Array} sensor 16 bytes @param {number} parts more than 1 @returns {number} 1 to `parts` */
export const partOf = (sensor, parts) => 1 + groupOf(sensor, parts);

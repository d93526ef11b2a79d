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
 * The samples of one sensor in one message, sorted by time, with distinct times. If `from` is 0 and `to` is the number
 * of samples, the object itself is used as a piece of an hour, without a copy.
 *
 * @typedef {{ sensor: Buffer, times: Numbers, values: Numbers, from?: number, to?: number }} SensorSeries
 */

/**
 * The samples that one or several messages of a device have in one partition of `message`. A partition has the samples
 * of one hour. If the device has many sensors, it has only one part of the sensors.
 *
 * @typedef {object} Hour
 * @property {number} bucket epoch ms of the hour's start
 * @property {number} part number of the part of the sensors; 0: all sensors
 * @property {Piece[]} pieces samples of one sensor each
 * @property {number} bytes upper limit of the size of the pieces in an encoded block, without the first byte of the block
 * @property {boolean} isShared whether the pieces come from several messages. Pieces of one message belong to
 *   different sensors
 * @property {number} width number of pieces of each message, if the pieces come from several messages that all
 *   have the same sensors in the same order; otherwise 0
 */

/**
 * Divides the samples of a message by partition. Nearly always all samples are in one partition.
 *
 * @param {SensorSeries[]} message
 * @param {number} parts number of parts over which the device's sensors are spread: see `partsFor` in schema/rules.js
 * @returns {Hour[]} earlier hours first
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

/** @param {SensorSeries} series @param {number} from @param {number} to @returns {series is Piece} whether the series has these bounds */
const isPiece = (series, from, to) => series.from === from && series.to === to;

/**
 * @param {Hour} hour
 * @param {number} part
 * @param {number} time epoch ms
 * @returns {boolean} whether a sample of this part and time belongs to the hour
 */
const isIn = (hour, part, time) => hour.part === part && time >= hour.bucket && time < hour.bucket + HOUR_MS;

/**
 * Finds the first time at or after the end of an hour.
 *
 * @param {Numbers} times epoch ms, strictly ascending
 * @param {number} end end of the hour, in epoch ms
 * @param {number} low index at which the search begins
 */
function endOfHour(times, end, low) {
  // Nearly always the whole message belongs to one hour.
  if (/** @type {number} */ (times[times.length - 1]) < end) return times.length;
  let index = low;
  while (/** @type {number} */ (times[index]) < end) index++;
  return index;
}

/**
 * Encodes an hour as rows of `message`.
 *
 * @param {Partition} partition partition of the hour
 * @param {Hour} hour samples of one message, or of several messages
 * @returns {Query[]} the rows; equal pieces give equal rows
 */
export function encodeHour({ key }, { bucket, pieces, bytes, isShared, width }) {
  const packed = width > 0 ? packMessages(bucket, pieces, width) : null;
  if (packed) return [rowOf(key, pieces, packed)];
  // Merging 50 sensors takes a map and 50 lists. So pieces are merged only if they come from several messages.
  const merged = isShared ? mergePieces(pieces) : pieces;
  if (bytes < MAX_BLOCK_BYTES) return [rowOf(key, merged, packBlock(bucket, merged))];
  return splitBlocks(merged).map((block) => rowOf(key, block, packBlock(bucket, block)));
}

/** @param {Buffer[]} key three columns @param {Piece[]} pieces @param {Buffer} samples the encoded pieces @returns {Query} */
const rowOf = (key, pieces, samples) => ({
  query: INSERT,
  params: [key[0], key[1], key[2], int64(newestOf(pieces)), digestOf(samples), samples],
});

/** @param {Uint8Array} sensor 16 bytes @param {number} parts more than 1 @returns {number} the part that has the sensor, from 1 to `parts` */
export const partOf = (sensor, parts) => 1 + groupOf(sensor, parts);

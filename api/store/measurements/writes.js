import { groupOf } from '../../../schema/ids.js';
import { newestOf, packBlock, pieceBytes, splitBlocks } from '../../../schema/packed/block.js';
import { digestOf } from '../../../schema/packed/pack.js';
import { sortMerge } from '../../../schema/packed/series.js';
import { bucketOf, HOUR_MS, MAX_BLOCK_BYTES } from '../../../schema/rules.js';
import { int32, int64 } from '../cql-encoding.js';
import { routingKey } from '../sending/routing.js';

/** @import { Piece } from '../../../schema/packed/block.js' */
/** @import { Numbers } from '../../../schema/packed/series.js' */
/** @import { Query, Session } from '../sending/session.js' */

const INSERT = 'INSERT INTO message (device_id, bucket, part, ts, digest, samples) VALUES (?, ?, ?, ?, ?, ?)';
const ADD_PARTS = {
  name: 'write_parts',
  cql: 'UPDATE message SET parts = parts + ? WHERE device_id = ? AND bucket = ? AND part = ?',
};

/**
 * The samples of one sensor in one message: sorted, one per instant.
 *
 * @typedef {{ sensor: Buffer, times: Numbers, values: Numbers }} SensorSeries
 */

/**
 * The samples of one message that fall into one partition.
 *
 * @typedef {object} Hour
 * @property {number} bucket epoch ms
 * @property {number} part
 * @property {Piece[]} pieces
 * @property {number} bytes of a block of them, at most
 */

/** @param {Session} session */
export function createSampleWrites(session) {
  const partitionOf = rememberPartitions();

  return {
    /**
     * Divides a message by the partitions that it touches, nearly always one. Nothing is encoded yet: a message of a year's
     * hourly samples is 8,760 requests, which encoded at once would weigh 75 times the message.
     *
     * @param {SensorSeries[]} message
     * @param {number} parts of the device, see `partsFor` in schema/rules.js
     * @returns {Hour[]}
     */
    plan(message, parts) {
      /** @type {Hour[]} */
      const hours = [];
      /** Needed by a message of several partitions alone. @type {Map<number, Hour> | null} */
      let byKey = null;
      for (const { sensor, times, values } of message) {
        const part = parts === 1 ? 0 : partOf(sensor, parts);
        for (let from = 0; from < times.length; ) {
          const bucket = bucketOf(/** @type {number} */ (times[from]));
          const to = endOfHour(times, bucket + HOUR_MS, from + 1);
          // A bucket is a multiple of an hour, in ms: no two partitions have the same sum.
          const key = bucket + part;
          const [first] = hours;
          let hour = first && first.bucket + first.part === key ? first : byKey?.get(key);
          if (!hour) {
            hour = { bucket, part, pieces: [], bytes: 0 };
            if (hours.push(hour) > 1) byKey = (byKey ?? new Map()).set(key, hour);
          }
          const piece = { sensor, times, values, from, to };
          hour.pieces.push(piece);
          hour.bytes += pieceBytes(piece);
          from = to;
        }
      }
      return hours;
    },

    /**
     * @param {Buffer} device 16 bytes
     * @param {Pick<Hour, 'bucket' | 'part' | 'pieces'>} hour of one message, or of several
     * @returns {Query[]} its rows: the same pieces, the same rows
     */
    encode(device, { bucket, part, pieces }) {
      const { key } = partitionOf(device, bucket, part);
      return splitBlocks(mergePieces(pieces)).map((block) => {
        const samples = packBlock(bucket, block);
        return { query: INSERT, params: [...key, int64(newestOf(block)), digestOf(samples), samples] };
      });
    },

    /**
     * @param {Buffer} device 16 bytes
     * @param {Pick<Hour, 'bucket' | 'part' | 'pieces'>} hour
     * @param {() => Query[]} take asked for the rows at the moment of sending, so that they can grow until then
     * @param {() => number} [bytes] of these rows, at most; nothing else leaves with them where it is not given
     * @returns {Promise<unknown>} settles when they are committed
     */
    commit: (device, { bucket, part }, take, bytes = () => MAX_BLOCK_BYTES) =>
      session.writeMerged({
        name: 'write_measurements',
        routing: partitionOf(device, bucket, part).routing,
        take,
        bytes,
        id: take,
      }),

    /**
     * Stores the number of parts of an hour, for its readers.
     *
     * @param {Buffer} device 16 bytes
     * @param {number} bucket epoch ms
     * @param {number} parts more than 1
     */
    writeParts: (device, bucket, parts) =>
      session.write(ADD_PARTS, [[parts], ...partitionOf(device, bucket, 0).key]),
  };
}

/** @typedef {ReturnType<typeof createSampleWrites>} SampleWrites */

/**
 * @param {Numbers} times epoch ms, strictly ascending
 * @param {number} end epoch ms
 * @param {number} low index to begin at
 */
function endOfHour(times, end, low) {
  // Nearly always the whole message is of one hour.
  if (/** @type {number} */ (times[times.length - 1]) < end) return times.length;
  let index = low;
  while (/** @type {number} */ (times[index]) < end) index++;
  return index;
}

/**
 * Pieces of messages that wait together: those of one sensor become one, so that 60 messages of a sample each weigh as much
 * as one message of 60.
 *
 * @param {Piece[]} pieces
 * @returns {Piece[]} one for each sensor
 */
function mergePieces(pieces) {
  /** By the very Buffer of the sensor's id, which ingest keeps. @type {Map<Buffer, Piece[]>} */
  const sensors = new Map();
  for (const piece of pieces) {
    const list = sensors.get(piece.sensor);
    if (list) list.push(piece);
    else sensors.set(piece.sensor, [piece]);
  }
  if (sensors.size === pieces.length) return pieces;
  return [...sensors].map(([sensor, [first, ...others]]) => {
    if (others.length === 0) return /** @type {Piece} */ (first);
    /** @type {number[]} */
    const allTimes = [];
    /** @type {number[]} */
    const allValues = [];
    for (const { times, values, from, to } of [/** @type {Piece} */ (first), ...others]) {
      for (let i = from; i < to; i++) {
        allTimes.push(/** @type {number} */ (times[i]));
        allValues.push(/** @type {number} */ (values[i]));
      }
    }
    const { times, values } = sortMerge(allTimes, allValues);
    return { sensor, times, values, from: 0, to: times.length };
  });
}

/**
 * One partition of `message`.
 *
 * @typedef {object} Partition
 * @property {Buffer} device 16 bytes
 * @property {number} bucket epoch ms
 * @property {number} part
 * @property {[Buffer, Buffer, Buffer]} key device, bucket and part as CQL bytes
 * @property {Buffer} routing
 */

/** @param {Uint8Array} sensor 16 bytes @param {number} parts more than 1 @returns {number} 1 to `parts` */
export const partOf = (sensor, parts) => 1 + groupOf(sensor, parts);

/**
 * The partitions of the hour that each device was last written to, so that routing keys are made once an hour: by the very
 * Buffer of the device's id, which ingest keeps as long as it knows the device.
 *
 * @returns {(device: Buffer, bucket: number, part: number) => Partition}
 */
export function rememberPartitions() {
  /** @type {WeakMap<Buffer, { bucket: number, parts: Map<number, Partition> }>} */
  const hours = new WeakMap();
  return (device, bucket, part) => {
    let hour = hours.get(device);
    if (hour?.bucket !== bucket) {
      hour = { bucket, parts: new Map() };
      hours.set(device, hour);
    }
    let partition = hour.parts.get(part);
    if (!partition) {
      partition = partitionOf(device, bucket, part);
      hour.parts.set(part, partition);
    }
    return partition;
  };
}

/** @param {Buffer} device 16 bytes @param {number} bucket epoch ms @param {number} part @returns {Partition} */
function partitionOf(device, bucket, part) {
  /** @type {Partition['key']} */
  const key = [device, int64(bucket), int32(part)];
  return { device, bucket, part, key, routing: routingKey(...key) };
}

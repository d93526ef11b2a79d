import { digestOf, packSamples } from '../../../schema/packed/pack.js';
import { splitRows } from '../../../schema/packed/split.js';
import { statisticsOf } from '../../../schema/packed/statistics.js';
import { float64, int32, int64 } from '../cells.js';
import { rememberPartitions } from './partitions.js';

const INSERT_PACKED =
  'INSERT INTO measurement_batch (device_id, bucket, sensor_id, ts, digest, last_ts, count, min, max, sum, last, samples) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

// A single sample as the full packed row, twelve columns instead of six, costs 28 % more.
const INSERT_SINGLE =
  'INSERT INTO measurement_batch (device_id, bucket, sensor_id, ts, digest, last) VALUES (?, ?, ?, ?, ?, ?)';

/**
 * The samples of one sensor in one message: sorted, one per instant.
 *
 * @typedef {{ sensor: Buffer, times: import('../../../schema/packed/series.js').Numbers, values: import('../../../schema/packed/series.js').Numbers }} SensorSeries
 */

/**
 * The samples of one message that fall into one hour of its device: what one request writes.
 *
 * @typedef {{ bucket: number, pieces: Array<{ series: SensorSeries, from: number, to: number }> }} Hour
 */

/**
 * An hour, encoded: however often the request has to be repeated, it is encoded once.
 *
 * @typedef {object} HourWrite
 * @property {number} bucket epoch ms
 * @property {Buffer} routing key of its partition
 * @property {import('../session.js').Query[]} queries
 * @property {number} bytes of packed samples
 */

/** @param {import('../session.js').Session} session */
export function createSampleWrites(session) {
  const partitionOf = rememberPartitions();

  return {
    /**
     * Parts a message by the hours that it touches, nearly always one. Nothing is encoded yet: a message of a year's
     * hourly samples is 8,760 requests, which encoded at once would weigh 75 times the message.
     *
     * @param {SensorSeries[]} message
     * @returns {Hour[]}
     */
    plan(message) {
      /** @type {Hour[]} */
      const hours = [];
      /** Needed by a message of several hours alone. @type {Map<number, Hour> | null} */
      let byBucket = null;
      for (const series of message) {
        for (const { bucket, from, to } of splitRows(series.times)) {
          let hour = hours[0]?.bucket === bucket ? hours[0] : byBucket?.get(bucket);
          if (!hour) {
            hour = { bucket, pieces: [] };
            if (hours.push(hour) > 1) byBucket = (byBucket ?? new Map()).set(bucket, hour);
          }
          hour.pieces.push({ series, from, to });
        }
      }
      return hours;
    },

    /** @param {Buffer} device 16 bytes @param {Hour} hour @returns {HourWrite} */
    encode(device, { bucket, pieces }) {
      const partition = partitionOf(device, bucket);
      let bytes = 0;
      const queries = pieces.map((piece) => {
        const { series, from, to } = piece;
        const samples = packSamples(bucket, series.times, series.values, from, to);
        bytes += samples.length;
        return rowOf(partition, piece, samples);
      });
      return { bucket, routing: partition.routing, queries, bytes };
    },

    /**
     * @param {HourWrite} hour
     * @param {() => void} [onSend] called at the moment of sending; until then rows may be added to `hour.queries`
     * @returns {Promise<unknown>} settles when it is committed
     */
    commit: (hour, onSend) =>
      session.writeBatch(
        'write_measurements',
        () => {
          onSend?.();
          return hour.queries;
        },
        hour.routing,
      ),
  };
}

/** @typedef {ReturnType<typeof createSampleWrites>} SampleWrites */

/**
 * @param {import('./partitions.js').Partition} partition
 * @param {Hour['pieces'][number]} piece
 * @param {Buffer} samples packed
 * @returns {import('../session.js').Query}
 */
function rowOf({ device, cell }, { series: { sensor, times, values }, from, to }, samples) {
  const ts = int64(/** @type {number} */ (times[from]));
  const digest = digestOf(samples);
  if (to - from === 1) {
    const value = float64(/** @type {number} */ (values[from]));
    return { query: INSERT_SINGLE, params: [device, cell, sensor, ts, digest, value] };
  }
  const { count, min, max, sum, last } = statisticsOf(values, from, to);
  const lastTs = int64(/** @type {number} */ (times[to - 1]));
  return {
    query: INSERT_PACKED,
    // biome-ignore format: one line a line of the statement
    params: [
      device, cell, sensor, ts, digest, lastTs,
      int32(count), float64(min), float64(max), float64(sum), float64(last), samples,
    ],
  };
}

import { digestOf, packSamples, unpackSamples } from '../../schema/packed/pack.js';
import { mergeSeries } from '../../schema/packed/series.js';
import { splitRows } from '../../schema/packed/split.js';
import { statisticsOf } from '../../schema/packed/statistics.js';
import { float64, int32, int64 } from './cells.js';

const INSERT_PACKED =
  'INSERT INTO measurement_batch (device_id, bucket, sensor_id, ts, digest, last_ts, count, min, max, sum, last, samples) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

// A single sample as the full packed row, twelve columns instead of six, costs 28 % more.
const INSERT_SINGLE =
  'INSERT INTO measurement_batch (device_id, bucket, sensor_id, ts, digest, last) VALUES (?, ?, ?, ?, ?, ?)';

const SELECT_HOUR = {
  name: 'read_hour',
  cql: 'SELECT ts, last, samples FROM measurement_batch WHERE device_id = ? AND bucket = ? AND sensor_id = ?',
};

/**
 * The samples of one sensor in one message: sorted, one per instant.
 *
 * @typedef {{ sensor: Buffer, times: import('../../schema/packed/series.js').Numbers, values: import('../../schema/packed/series.js').Numbers }} SensorSeries
 */

/**
 * What one request writes: the rows of one device's hour.
 *
 * @typedef {{ bucket: number, queries: Array<{ query: string, params: unknown[] }>, samples: number, bytes: number }} HourWrite
 */

/** @param {import('./session.js').Session} session */
export function createMeasurements(session) {
  return {
    /**
     * Lays a message out as rows: one batch for each hour that it touches, nearly always one. Encoded once, however
     * often the request has to be repeated.
     *
     * @param {Buffer} device 16 bytes
     * @param {SensorSeries[]} series
     * @returns {HourWrite[]}
     */
    plan(device, series) {
      /** @type {Map<number, HourWrite>} */
      const hours = new Map();
      for (const { sensor, times, values } of series) {
        for (const { bucket, from, to } of splitRows(times)) {
          let hour = hours.get(bucket);
          if (!hour) {
            hour = { bucket, queries: [], samples: 0, bytes: 0 };
            hours.set(bucket, hour);
          }
          const samples = packSamples(bucket, times, values, from, to);
          hour.queries.push(rowOf({ device, bucket, sensor, times, values, from, to, samples }));
          hour.samples += to - from;
          hour.bytes += samples.length;
        }
      }
      return [...hours.values()];
    },

    /** @param {HourWrite} hour @returns {Promise<void>} settles when it is committed */
    commit: (hour) => session.writeBatch('write_measurements', hour.queries),

    /**
     * All samples of a sensor in one hour, merged.
     *
     * @param {Buffer} device 16 bytes
     * @param {Buffer} sensor 16 bytes
     * @param {number} bucket epoch ms
     * @returns {Promise<import('../../schema/packed/series.js').Series>} in order of time
     */
    async readHour(device, sensor, bucket) {
      const rows = await session.all(SELECT_HOUR, [device, int64(bucket), sensor]);
      return mergeSeries(
        rows.map((row) =>
          row['samples']
            ? unpackSamples(bucket, row['samples'])
            : { times: [row['ts'].getTime()], values: [row['last']] },
        ),
      );
    },
  };
}

/** @typedef {ReturnType<typeof createMeasurements>} Measurements */

/**
 * @param {SensorSeries & { device: Buffer, bucket: number, from: number, to: number, samples: Buffer }} row
 * @returns {{ query: string, params: unknown[] }}
 */
function rowOf({ device, bucket, sensor, times, values, from, to, samples }) {
  const key = [device, int64(bucket), sensor, int64(/** @type {number} */ (times[from])), digestOf(samples)];
  if (to - from === 1) {
    return { query: INSERT_SINGLE, params: [...key, float64(/** @type {number} */ (values[from]))] };
  }
  const { count, min, max, sum, last } = statisticsOf(values, from, to);
  const lastTs = int64(/** @type {number} */ (times[to - 1]));
  return {
    query: INSERT_PACKED,
    params: [...key, lastTs, int32(count), float64(min), float64(max), float64(sum), float64(last), samples],
  };
}

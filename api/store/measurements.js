import { digestOf, packSamples, unpackSamples } from '../../schema/packed/pack.js';
import { mergeSeries } from '../../schema/packed/series.js';
import { splitRows } from '../../schema/packed/split.js';
import { statisticsOf } from '../../schema/packed/statistics.js';
import { bucketOf, HOUR_MS } from '../../schema/rules.js';
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

/** Hours that one page reads at most; one of a sensor with large gaps may be short, even empty, before the end. */
const MOST_HOURS_A_PAGE = 32 * 24;

/** Hours that are read at once: enough to hide the round trips over gaps, few enough to leave the database to others. */
const HOURS_AT_ONCE = 32;

/**
 * A page of raw samples.
 *
 * @typedef {object} SamplePage
 * @property {number[]} times epoch ms, in the order asked for
 * @property {number[]} values
 * @property {number | null} reached where the next page begins: its first instant (asc), or the one before which it
 *   begins (desc); null at the end of the range
 */

/** @param {import('./session.js').Session} session */
export function createMeasurements(session) {
  /**
   * All samples of a sensor in one hour, merged.
   *
   * @param {Buffer} device 16 bytes
   * @param {Buffer} sensor 16 bytes
   * @param {number} bucket epoch ms
   * @returns {Promise<import('../../schema/packed/series.js').Series>} in order of time
   */
  async function readHour(device, sensor, bucket) {
    const rows = await session.all(SELECT_HOUR, [device, int64(bucket), sensor]);
    return mergeSeries(
      rows.map((row) =>
        row['samples']
          ? unpackSamples(bucket, row['samples'])
          : { times: [row['ts'].getTime()], values: [row['last']] },
      ),
    );
  }

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

    readHour,

    /**
     * Samples in [from, to), hour by hour: whole hours are merged before anything of them is handed out, so batches
     * that overlap never repeat or drop a sample between pages.
     *
     * @param {Buffer} device 16 bytes
     * @param {Buffer} sensor 16 bytes
     * @param {{ from: number, to: number }} range epoch ms
     * @param {{ order: 'asc' | 'desc', limit: number }} page
     * @returns {Promise<SamplePage>}
     */
    async readPage(device, sensor, range, { order, limit }) {
      const buckets = bucketsOf(range, order);
      /** @type {SamplePage} */
      const page = { times: [], values: [], reached: null };
      // One hour of a busy sensor fills a page; the longer nothing comes, the more hours are read at once.
      let atOnce = 1;
      for (
        let hours = 0;
        hours < MOST_HOURS_A_PAGE;
        hours += atOnce, atOnce = Math.min(atOnce * 2, HOURS_AT_ONCE)
      ) {
        const next = take(buckets, atOnce);
        const read = await Promise.all(next.map((bucket) => readHour(device, sensor, bucket)));
        for (const series of read) {
          if (fill(page, series, range, order, limit)) return page;
        }
        if (next.length < atOnce) {
          page.reached = null;
          return page;
        }
        const last = /** @type {number} */ (next.at(-1));
        page.reached = order === 'asc' ? last + HOUR_MS : last;
      }
      return page;
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

/**
 * The hours that a range touches, lazily: a range may be long and mostly empty.
 *
 * @param {{ from: number, to: number }} range epoch ms
 * @param {'asc' | 'desc'} order
 */
function* bucketsOf({ from, to }, order) {
  const first = bucketOf(from);
  const last = bucketOf(to - 1);
  if (order === 'asc') for (let bucket = first; bucket <= last; bucket += HOUR_MS) yield bucket;
  else for (let bucket = last; bucket >= first; bucket -= HOUR_MS) yield bucket;
}

/** @template T @param {Iterator<T>} source @param {number} most @returns {T[]} */
function take(source, most) {
  const taken = [];
  for (let next = source.next(); !next.done; next = source.next()) {
    taken.push(next.value);
    if (taken.length === most) break;
  }
  return taken;
}

/**
 * Adds an hour's samples to the page.
 *
 * @param {SamplePage} page is changed
 * @param {import('../../schema/packed/series.js').Series} series
 * @param {{ from: number, to: number }} range
 * @param {'asc' | 'desc'} order
 * @param {number} limit
 * @returns {boolean} whether the page is full and more is to come
 */
function fill(page, { times, values }, { from, to }, order, limit) {
  const step = order === 'asc' ? 1 : -1;
  for (let at = order === 'asc' ? 0 : times.length - 1; at >= 0 && at < times.length; at += step) {
    const ts = /** @type {number} */ (times[at]);
    if (ts < from || ts >= to) continue;
    if (page.times.length === limit) {
      page.reached = order === 'asc' ? ts : ts + 1;
      return true;
    }
    page.times.push(ts);
    page.values.push(/** @type {number} */ (values[at]));
  }
  return false;
}

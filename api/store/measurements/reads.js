import { uuidText } from '../../../schema/ids.js';
import { unpackSamples } from '../../../schema/packed/pack.js';
import { mergeSeries } from '../../../schema/packed/series.js';
import { bucketOf, HOUR_MS } from '../../../schema/rules.js';
import { int64 } from '../cells.js';

/** @typedef {import('../../../schema/packed/series.js').Series} Series */

const SELECT_HOUR = {
  name: 'read_hour',
  cql: 'SELECT ts, last, samples FROM measurement_batch WHERE device_id = ? AND bucket = ? AND sensor_id = ?',
};

const SELECT_DEVICE_HOUR = {
  name: 'read_device_hour',
  cql: 'SELECT sensor_id, ts, last, samples FROM measurement_batch WHERE device_id = ? AND bucket = ?',
};

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

/** @param {import('../session.js').Session} session */
export function createSampleReads(session) {
  /**
   * All samples of a sensor in one hour, merged.
   *
   * @param {Buffer} device 16 bytes
   * @param {Buffer} sensor 16 bytes
   * @param {number} bucket epoch ms
   * @returns {Promise<Series>} in order of time
   */
  async function readHour(device, sensor, bucket) {
    const rows = await session.all(SELECT_HOUR, [device, int64(bucket), sensor]);
    return mergeSeries(rows.map((row) => seriesOf(bucket, row)));
  }

  return {
    readHour,

    /**
     * All rows of a device in one hour, as they are stored: what is in two rows comes twice.
     *
     * @param {Buffer} device 16 bytes
     * @param {number} bucket epoch ms
     * @returns {Promise<Map<string, Series[]>>} by sensor id, one series a row
     */
    async readDeviceHour(device, bucket) {
      const rows = await session.all(SELECT_DEVICE_HOUR, [device, int64(bucket)]);
      /** @type {Map<string, Series[]>} */
      const sensors = new Map();
      for (const row of rows) {
        const id = uuidText(row['sensor_id'].getBuffer());
        const list = sensors.get(id);
        if (list) list.push(seriesOf(bucket, row));
        else sensors.set(id, [seriesOf(bucket, row)]);
      }
      return sensors;
    },

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

/** @typedef {ReturnType<typeof createSampleReads>} SampleReads */

/** @param {number} bucket epoch ms @param {import('../session.js').Row} row @returns {Series} sorted */
const seriesOf = (bucket, row) =>
  row['samples']
    ? unpackSamples(bucket, row['samples'])
    : { times: [row['ts'].getTime()], values: [row['last']] };

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
 * @param {import('../../../schema/packed/series.js').Series} series
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

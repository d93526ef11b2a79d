import { DAY_MS, dayOf, yearOf } from '../../../schema/rules.js';

/** @import { Sensor } from '../../../api/history/reading/hours.js' */
/** @import { Reading } from '../../../api/history/reading/index.js' */
/** @import { Store } from '../../../api/store/index.js' */
/** @import { Client } from 'cassandra-driver' */
/** @import { Read, Target } from '../environment/front.js' */
/** @import { Plan } from './data.js' */
/** @import { HttpReader } from './http.js' */

/**
 * The readings: each has a data set, a way to read and a target of the plan.
 *
 * @satisfies {Record<string, { system: 'small' | 'large', kind: Kind, target: keyof Plan['targets'], label: string }>}
 */
export const READINGS = {
  smallLatest: {
    system: 'small',
    kind: 'latestPage',
    target: 'newest',
    label: 'page of latest, little stored',
  },
  smallPage: {
    system: 'small',
    kind: 'samplesPage',
    target: 'newest',
    label: 'page of samples, little stored',
  },
  latest: { system: 'large', kind: 'latestPage', target: 'newest', label: 'page of latest' },
  latestRows: { system: 'large', kind: 'latestRows', target: 'newest', label: 'one read of 100 rows, store' },
  page: { system: 'large', kind: 'samplesPage', target: 'newest', label: 'page of samples' },
  month: { system: 'large', kind: 'series', target: 'month', label: 'series of a month' },
  monthExport: { system: 'large', kind: 'export', target: 'month', label: 'export of a month' },
  monthSamples: { system: 'large', kind: 'samples', target: 'month', label: 'samples of a month, store' },
  year: { system: 'large', kind: 'series', target: 'year', label: 'series of a year' },
  yearStatistics: {
    system: 'large',
    kind: 'statistics',
    target: 'year',
    label: 'statistics of a year, store',
  },
  day: { system: 'large', kind: 'samples', target: 'day', label: 'samples of a day, store' },
  dayRows: { system: 'large', kind: 'rows', target: 'day', label: 'the same as one row per sample, store' },
};

/** @typedef {keyof typeof READINGS} Name */

export const NAMES = /** @type {Name[]} */ (Object.keys(READINGS));

/** @typedef {Record<Name, Read>} Reads of one round */

/** Side by side: the first against the second. @satisfies {Record<string, { label: string, ratio: (reads: Reads) => number }>} */
export const RATIOS = {
  latestAgainstRows: {
    label: 'p99 of a page of 100 of latest, against one read of 100 rows from the store',
    ratio: ({ latest, latestRows }) => latest.p99 / latestRows.p99,
  },
  latestByStored: {
    label: 'a page of latest with much stored, against little',
    ratio: ({ latest, smallLatest }) => latest.p50 / smallLatest.p50,
  },
  pageByStored: {
    label: 'a page of samples with much stored, against little',
    ratio: ({ page, smallPage }) => page.p50 / smallPage.p50,
  },
  monthAgainstExport: {
    label: "reading a month's samples, against its series of 500 points",
    ratio: ({ monthExport, month }) => monthExport.p50 / month.p50,
  },
  monthAgainstSamples: {
    label: 'the same samples from the store alone, against that series',
    ratio: ({ monthSamples, month }) => monthSamples.p50 / month.p50,
  },
  yearAgainstStatistics: {
    label: "a year's series of 500 points, against its statistics from the store alone",
    ratio: ({ year, yearStatistics }) => year.p50 / yearStatistics.p50,
  },
  dayAgainstRows: {
    label: 'a day as one row per sample, against packed, from the store',
    ratio: ({ dayRows, day }) => dayRows.p50 / day.p50,
  },
};

/** @typedef {Target & { key: Sensor }} Resolved */

/**
 * @typedef {object} Sources
 * @property {HttpReader} http
 * @property {Store} store
 * @property {Reading} reading
 * @property {RowReader} rows
 */

/** Points of a series, and items of a page: what people look at. */
const POINTS = 500;
const PAGE = 100;

/** Each reads once, and returns how much there was: items, points, samples, rows. */
export const KINDS = {
  /** The newest values of a fleet. @param {Sources} sources */
  latestPage: async ({ http }) => (await http.json(`/api/v1/latest?limit=${PAGE}`)).items.length,

  /** As many rows of one partition, from the database itself. @param {Sources} sources @param {Resolved} target */
  latestRows: ({ rows }, { key }) => rows.latest(key.group, PAGE),

  /** The newest samples of a sensor. @param {Sources} sources @param {Resolved} target */
  samplesPage: async ({ http }, target) =>
    (await http.json(`${pathOf(target)}/measurements?limit=${PAGE}`)).items.length,

  /** @param {Sources} sources @param {Resolved} target */
  series: async ({ http }, target) =>
    (await http.json(`${pathOf(target)}/series?${rangeOf(target)}&points=${POINTS}`)).points.length,

  /** @param {Sources} sources @param {Resolved} target */
  export: ({ http }, target) =>
    http.lines(`${pathOf(target)}/measurements?${rangeOf(target)}&order=asc`, 'application/x-ndjson'),

  /** The statistics of all hours, from the store alone. @param {Sources} sources @param {Resolved} target */
  async statistics({ store }, { key, from, to }) {
    const turn = Math.min(to, Date.UTC(yearOf(from) + 1, 0));
    const years = [
      { from, to: turn },
      { from: turn, to },
    ].filter((year) => year.from < year.to);
    const read = await Promise.all(years.map((year) => store.packed.readStatistics(key, year.from, year.to)));
    return read.flat().length;
  },

  /** All samples, from the store alone. @param {Sources} sources @param {Resolved} target */
  async samples({ reading }, { key, from, to }) {
    const page = { order: /** @type {const} */ ('asc'), limit: Number.POSITIVE_INFINITY };
    return (await reading.page(key, { from, to }, page)).times.length;
  },

  /** The same from one row per sample. @param {Sources} sources @param {Resolved} target */
  rows: ({ rows }, { key, from, to }) => rows.samples(key, from, to),
};

/** @typedef {keyof typeof KINDS} Kind */

/** @param {Target} target */
const pathOf = ({ device, sensor }) => `/api/v1/devices/${device}/sensors/${sensor}`;

/** @param {Target} target */
const rangeOf = ({ from, to }) => `from=${from}&to=${to}`;

const SELECT_LATEST =
  'SELECT device_id, sensor_id, device, name, type, unit, site FROM sensor WHERE grp = ? LIMIT ?';
const SELECT_DAY =
  'SELECT ts, value FROM measurement_row WHERE device_id = ? AND sensor_id = ? AND day = ? AND ts >= ? AND ts < ?';

/** Rows of a page: as many as the driver takes where nothing else is said, since they are small. */
const FETCH_SIZE = 5000;

/**
 * Rows as they are, by the driver itself: what reading is compared with.
 *
 * @param {Client} client
 */
export const createRowReader = (client) => ({
  /** @param {number} group @param {number} most @returns {Promise<number>} rows of one partition of `sensor` */
  latest: async (group, most) => (await client.execute(SELECT_LATEST, [group, most])).rows.length,

  /**
   * @param {Sensor} key
   * @param {number} from epoch ms
   * @param {number} to epoch ms
   * @returns {Promise<number>} samples
   */
  async samples({ device, sensor }, from, to) {
    /** @type {number[]} */
    const times = [];
    /** @type {number[]} */
    const values = [];
    for (let day = dayOf(from); day < to; day += DAY_MS) {
      const params = [device, sensor, new Date(day), new Date(from), new Date(to)];
      for await (const row of await client.execute(SELECT_DAY, params, { fetchSize: FETCH_SIZE })) {
        times.push(row['ts'].getTime());
        values.push(row['value']);
      }
    }
    return Math.min(times.length, values.length);
  },
});

/** @typedef {ReturnType<typeof createRowReader>} RowReader */

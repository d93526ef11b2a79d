import { Latencies as Histogram } from '../../../simulator/meter.js';

/** @import { Latencies } from '../load/open-loop.js' */
/** @import { Plan } from './data.js' */
/** @import { HttpReader } from './http.js' */
/** @import { StoreReader } from './store.js' */

/**
 * The data to read.
 *
 * @typedef {object} Target
 * @property {string} device name of the device
 * @property {string} sensor name of the sensor
 * @property {number} from epoch ms
 * @property {number} to epoch ms
 */

/** @typedef {Latencies & { items: number }} Read `items`: number of items in one answer, such as samples */

/**
 * The readings. Each reading has a data set, a way to read, and a target of the plan.
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
  latestRows: { system: 'large', kind: 'rows', target: 'newest', label: 'one read of 100 rows, store' },
  page: { system: 'large', kind: 'samplesPage', target: 'newest', label: 'page of samples' },
  month: { system: 'large', kind: 'series', target: 'month', label: 'series of a month' },
  monthExport: { system: 'large', kind: 'export', target: 'month', label: 'export of a month' },
  year: { system: 'large', kind: 'series', target: 'year', label: 'series of a year' },
  yearStatistics: {
    system: 'large',
    kind: 'statistics',
    target: 'year',
    label: 'statistics of a year, store',
  },
};

/** @typedef {keyof typeof READINGS} Name */

export const NAMES = /** @type {Name[]} */ (Object.keys(READINGS));

/** The reads of one round. @typedef {Record<Name, Read>} Reads */

/** The ratios of two readings. @satisfies {Record<string, { label: string, ratio: (reads: Reads) => number }>} */
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
  yearAgainstStatistics: {
    label: "a year's series of 500 points, against its statistics from the store alone",
    ratio: ({ year, yearStatistics }) => year.p50 / yearStatistics.p50,
  },
};

/** Number of points of a series, and of items of a page, as the dashboard requests them. */
const POINTS = 500;
const PAGE = 100;

/** @typedef {{ http: HttpReader, store: StoreReader }} Sources */

/** The ways to read. Each function reads once and returns the number of items, points, samples, rows or hours. */
export const KINDS = {
  /** Reads the newest values of a fleet. @param {Sources} sources */
  latestPage: async ({ http }) => (await http.json(`/api/v1/latest?limit=${PAGE}`)).items.length,

  /** Reads as many rows as a page has items, in one partition of the database. @param {Sources} sources @param {Target} target */
  rows: ({ store }, target) => store.rows(target, PAGE),

  /** Reads the newest samples of a sensor. @param {Sources} sources @param {Target} target */
  samplesPage: async ({ http }, target) =>
    (await http.json(`${pathOf(target)}/measurements?limit=${PAGE}`)).items.length,

  /** @param {Sources} sources @param {Target} target */
  series: async ({ http }, target) =>
    (await http.json(`${pathOf(target)}/series?${rangeOf(target)}&points=${POINTS}`)).points.length,

  /** Reads the statistics of all hours from the store, without HTTP. @param {Sources} sources @param {Target} target */
  statistics: ({ store }, target) => store.statistics(target),

  /** @param {Sources} sources @param {Target} target */
  export: ({ http }, target) =>
    http.lines(`${pathOf(target)}/measurements?${rangeOf(target)}&order=asc`, 'application/x-ndjson'),
};

/** @typedef {keyof typeof KINDS} Kind */

/**
 * Repeats one reading, and measures each read.
 *
 * @param {() => Promise<number>} read returns the number of items
 * @param {number} forMs duration; at least one read is made
 * @returns {Promise<Read>}
 */
export async function readRepeatedly(read, forMs) {
  const latencies = new Histogram();
  const end = performance.now() + forMs;
  let items = 0;
  do {
    const began = performance.now();
    items = await read();
    latencies.record(performance.now() - began);
  } while (performance.now() < end);
  return { .../** @type {Latencies} */ (latencies.read()), items };
}

/** @param {Target} target */
const pathOf = ({ device, sensor }) => `/api/v1/devices/${device}/sensors/${sensor}`;

/** @param {Target} target */
const rangeOf = ({ from, to }) => `from=${from}&to=${to}`;

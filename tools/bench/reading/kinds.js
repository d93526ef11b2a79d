import { createLatencies } from '../load/open-loop.js';

/** @import { Latencies } from '../load/open-loop.js' */
/** @import { Plan } from './data.js' */
/** @import { HttpReader } from './http.js' */

/**
 * The data to read.
 *
 * @typedef {object} Target
 * @property {string} device its name
 * @property {string} sensor its name
 * @property {number} from epoch ms
 * @property {number} to epoch ms
 */

/** @typedef {Latencies & { items: number }} Read `items`: of one answer, such as samples */

/**
 * The readings: each has a data set, a kind of request and a target of the plan.
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
  page: { system: 'large', kind: 'samplesPage', target: 'newest', label: 'page of samples' },
  month: { system: 'large', kind: 'series', target: 'month', label: 'series of a month' },
  monthExport: { system: 'large', kind: 'export', target: 'month', label: 'export of a month' },
  year: { system: 'large', kind: 'series', target: 'year', label: 'series of a year' },
};

/** @typedef {keyof typeof READINGS} Name */

export const NAMES = /** @type {Name[]} */ (Object.keys(READINGS));

/** @typedef {Record<Name, Read>} Reads of one round */

/** Two readings compared. @satisfies {Record<string, { label: string, ratio: (reads: Reads) => number }>} */
export const RATIOS = {
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
};

/** Points of a series, and items of a page, as the dashboard requests them. */
const POINTS = 500;
const PAGE = 100;

/** Each function reads once and returns the number of items, points or samples. */
const KINDS = {
  /** The newest values of a fleet. @param {HttpReader} http */
  latestPage: async (http) => (await http.json(`/api/v1/latest?limit=${PAGE}`)).items.length,

  /** The newest samples of a sensor. @param {HttpReader} http @param {Target} target */
  samplesPage: async (http, target) =>
    (await http.json(`${pathOf(target)}/measurements?limit=${PAGE}`)).items.length,

  /** @param {HttpReader} http @param {Target} target */
  series: async (http, target) =>
    (await http.json(`${pathOf(target)}/series?${rangeOf(target)}&points=${POINTS}`)).points.length,

  /** @param {HttpReader} http @param {Target} target */
  export: (http, target) =>
    http.lines(`${pathOf(target)}/measurements?${rangeOf(target)}&order=asc`, 'application/x-ndjson'),
};

/** @typedef {keyof typeof KINDS} Kind */

/**
 * Sends the same request again and again.
 *
 * @param {HttpReader} http
 * @param {Kind} kind
 * @param {Target} target
 * @param {number} forMs one request at least
 * @returns {Promise<Read>}
 */
export async function readFor(http, kind, target, forMs) {
  const latencies = createLatencies();
  const end = performance.now() + forMs;
  let items = 0;
  do {
    const began = performance.now();
    items = await KINDS[kind](http, target);
    latencies.record(performance.now() - began);
  } while (performance.now() < end);
  return { ...latencies.read(), items };
}

/** @param {Target} target */
const pathOf = ({ device, sensor }) => `/api/v1/devices/${device}/sensors/${sensor}`;

/** @param {Target} target */
const rangeOf = ({ from, to }) => `from=${from}&to=${to}`;

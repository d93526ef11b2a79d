/** @import { Plan } from './data.js' */
/** @import { Read } from '../environment/front.js' */
/** @import { Kind } from './kinds.js' */

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

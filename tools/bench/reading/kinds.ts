import { Latencies as Histogram } from '../../../simulator/meter.ts';
import type { Latencies } from '../load/open-loop.ts';
import type { Plan } from './data.ts';
import type { HttpReader } from './http.ts';
import type { StoreReader } from './store.ts';

export interface Target {
  device: string;
  sensor: string;
  /** epoch ms */
  from: number;
  /** epoch ms */
  to: number;
}

/** `items`: in one answer, such as samples */
export type Read = Latencies & { items: number };

/** Each reading has a data set, a way to read, and a target of the plan. */
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
} satisfies Record<
  string,
  { system: 'small' | 'large'; kind: Kind; target: keyof Plan['targets']; label: string }
>;

export type Name = keyof typeof READINGS;

export const NAMES = Object.keys(READINGS) as Name[];

type Reads = Record<Name, Read>;

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
} satisfies Record<string, { label: string; ratio: (reads: Reads) => number }>;

/** The dashboard requests these numbers. */
const POINTS = 500;
const PAGE = 100;

type Items = { items: unknown[] };
type Points = { points: unknown[] };
type Sources = { http: HttpReader; store: StoreReader };

/** Each function reads once and returns the number of items, points, samples, rows or hours. */
export const KINDS = {
  latestPage: async ({ http }: Sources) =>
    (await http.json<Items>(`/api/v1/latest?limit=${PAGE}`)).items.length,

  /** Reads as many rows as a page has items, in one partition of the database. */
  rows: ({ store }: Sources, target: Target) => store.rows(target, PAGE),

  samplesPage: async ({ http }: Sources, target: Target) =>
    (await http.json<Items>(`${pathOf(target)}/measurements?limit=${PAGE}`)).items.length,

  series: async ({ http }: Sources, target: Target) =>
    (await http.json<Points>(`${pathOf(target)}/series?${rangeOf(target)}&points=${POINTS}`)).points.length,

  /** Reads all hours from the store, without HTTP. */
  statistics: ({ store }: Sources, target: Target) => store.statistics(target),

  export: ({ http }: Sources, target: Target) =>
    http.lines(`${pathOf(target)}/measurements?${rangeOf(target)}&order=asc`, 'application/x-ndjson'),
};

export type Kind = keyof typeof KINDS;

/** @param read returns the number of items @param forMs at least one read is made */
export async function readRepeatedly(read: () => Promise<number>, forMs: number): Promise<Read> {
  const latencies = new Histogram();
  const end = performance.now() + forMs;
  let items = 0;
  do {
    const began = performance.now();
    items = await read();
    latencies.record(performance.now() - began);
  } while (performance.now() < end);
  return { ...(latencies.read() as Latencies), items };
}

const pathOf = ({ device, sensor }: Target) => `/api/v1/devices/${device}/sensors/${sensor}`;

const rangeOf = ({ from, to }: Target) => `from=${from}&to=${to}`;

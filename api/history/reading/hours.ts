import type { HourStatistics } from '../../../schema/packed/statistics.ts';
import { bucketOf, DAY_MS, HOUR_MS, isExact, yearOf } from '../../../schema/rules.ts';
import type { SensorKey } from '../../store/history/keys.ts';
import type { HistoryReads, HourRow } from '../../store/history/reads.ts';

/** `group`: group of the sensor's device */
export type Sensor = SensorKey & { group: number };

/** An hour that may have samples, and the tables in which they are. */
export interface Hour {
  hour: number;
  /** true: history has all samples of the hour; false: samples of history and of the table `message` have to be merged */
  packed: boolean;
  /** statistics of all samples of the hour; null: unknown */
  exact: HourStatistics | null;
  /** of all or most samples of the hour; null: unknown */
  count: number | null;
}

/** `from` and `to` are starts of hours. The result is in order of time. */
export type LookUp = (sensor: Sensor, from: number, to: number) => Promise<Hour[]>;

/**
 * Readers of history must read in this order: first the progress of packing, then statistics, then samples, which the caller reads.
 * Meanwhile hours may be packed or get late samples. In this order each read sees the state of the previous read, or a newer state.
 */
export const createLookUp =
  ({
    packedUntil,
    readStatistics,
  }: {
    packedUntil: (group: number) => Promise<number>;
    readStatistics: HistoryReads['readStatistics'];
  }): LookUp =>
  async (sensor, from, to) => {
    const until = await packedUntil(sensor.group);
    const years = await Promise.all(
      yearsOf(from, to).map((year) => readStatistics(sensor, year.from, year.to)),
    );
    return hoursOf(years, Math.max(from, until), to);
  };

/** @param unpackedFrom epoch ms before which all hours are packed, so that an hour without a row has no samples */
function hoursOf(years: HourRow[][], unpackedFrom: number, to: number): Hour[] {
  const hours: Hour[] = [];
  let next = unpackedFrom;
  // One loop without intermediate lists: a query of a month of 1,000 sensors has 744,000 rows.
  for (const rows of years) {
    for (const row of rows) {
      if (row.hour >= unpackedFrom) {
        for (const hour of unpackedHours(next, row.hour)) hours.push(hour);
        next = row.hour + HOUR_MS;
      }
      // All samples of the hour were removed.
      if (row.statistics?.count !== 0 || !isExact(row)) hours.push(known(row));
    }
  }
  for (const hour of unpackedHours(next, to)) hours.push(hour);
  return hours;
}

/** Safe also for packed hours: both tables are read then, and merged. */
export function* unpackedHours(from: number, to: number): Generator<Hour, void> {
  for (let hour = from; hour < to; hour += HOUR_MS) yield { hour, packed: false, exact: null, count: null };
}

const known = (row: HourRow): Hour => ({
  hour: row.hour,
  packed: row.readFrom !== null,
  exact: isExact(row) ? row.statistics : null,
  count: row.statistics?.count ?? null,
});

function yearsOf(from: number, to: number): Array<{ from: number; to: number }> {
  const years = [];
  for (let at = from; at < to; ) {
    const end = Math.min(to, Date.UTC(yearOf(at) + 1, 0));
    years.push({ from: at, to: end });
    at = end;
  }
  return years;
}

/** In ms. The samples of a busy sensor in this range fill a page. */
const FIRST_MS = 4 * DAY_MS;

/** Each further range is longer, up to `LONGEST_MS`. So a year without samples takes few reads. */
const GROWTH = 4;
export const LONGEST_MS = 366 * DAY_MS;

export type Range = { from: number; to: number };
export type Order = 'asc' | 'desc';

/**
 * The part of a range in which a sensor may have samples. It ends with the hour of `newest`, because `latest` is written after the samples
 * that it shows, and their hour is read as a whole anyway.
 * @param newest epoch ms; null: there are no samples
 */
export const storedRange = ({ from, to }: Range, newest: number | null): Range => ({
  from,
  to: newest === null ? from : Math.min(to, bucketOf(Math.min(newest, to)) + HOUR_MS),
});

/** Reads the range in parts that become longer and longer. @param length of the first part, in ms */
export async function* chunksOf(
  lookUp: LookUp,
  sensor: Sensor,
  range: Range,
  order: Order,
  length: number = FIRST_MS,
): AsyncGenerator<Hour[], void> {
  if (range.from >= range.to) return;
  let from = bucketOf(range.from);
  let to = bucketOf(range.to - 1) + HOUR_MS;
  for (let stretch = length; from < to; stretch = Math.min(stretch * GROWTH, LONGEST_MS)) {
    // Statistics are read in the stored order, oldest first, because reversed queries are expensive for ScyllaDB.
    if (order === 'asc') {
      const end = Math.min(from + stretch, to);
      yield await lookUp(sensor, from, end);
      from = end;
    } else {
      const start = Math.max(to - stretch, from);
      yield (await lookUp(sensor, start, to)).reverse();
      to = start;
    }
  }
}

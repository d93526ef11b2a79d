import type { Series } from '../../../schema/packed/series.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import { chunksOf, type Hour, type LookUp, type Order, type Range, type Sensor } from './hours.ts';
import { readHours, type SampleSource } from './samples.ts';

/** At the limit the page ends, so a page of mostly empty hours may have few samples. */
const MOST_HOURS_A_PAGE = 32 * 24;

/** Enough to hide the round trips, and few enough to leave capacity of the database for other requests. */
const HOURS_AT_ONCE = 32;

interface SamplePage {
  /** in the requested order */
  times: number[];
  values: number[];
  /** epoch ms at which the next page begins (ascending), or before which all of its samples are (descending); null: no more pages */
  reached: number | null;
}

/**
 * All rows of an hour are merged before its samples are returned. So rows that overlap never repeat or drop a sample between pages. The
 * position between pages is an instant, because an instant stays valid when an hour is packed between two pages.
 */
export async function readPage(
  {
    lookUp,
    source,
  }: {
    lookUp: LookUp;
    source: SampleSource;
  },
  sensor: Sensor,
  range: Range,
  { order, limit }: { order: Order; limit: number },
): Promise<SamplePage> {
  const page: SamplePage = { times: [], values: [], reached: null };
  let left = MOST_HOURS_A_PAGE;
  let atOnce = 1;
  for await (const hours of chunksOf(lookUp, sensor, range, order)) {
    for (let at = 0; at < hours.length; ) {
      const next = enough(hours, at, limit - page.times.length, atOnce);
      const read = await readHours(source, sensor, next, range.from);
      for (const series of read) {
        if (fill(page, series, range, order, limit)) return page;
      }
      at += next.length;
      left -= next.length;
      // As long as the page is not full, each read may have twice as many hours with an unknown number of samples.
      atOnce = Math.min(2 * atOnce, HOURS_AT_ONCE);
      if (left <= 0) return { ...page, reached: placeAfter(next.at(-1) as Hour, order) };
    }
  }
  return page;
}

const placeAfter = ({ hour }: Hour, order: Order): number => (order === 'asc' ? hour + HOUR_MS : hour);

/** Chooses hours that have the missing samples. @param uncounted limit of hours whose number of samples is unknown */
function enough(hours: Hour[], at: number, missing: number, uncounted: number): Hour[] {
  let [samples, unknown, end] = [0, 0, at];
  while (end < hours.length && end - at < HOURS_AT_ONCE && samples <= missing && unknown < uncounted) {
    const { count } = hours[end++] as Hour;
    if (count === null) unknown++;
    else samples += count;
  }
  return hours.slice(at, end);
}

/** @returns whether the page is full and more samples follow */
function fill(
  page: SamplePage,
  { times, values }: Series,
  { from, to }: Range,
  order: Order,
  limit: number,
): boolean {
  const step = order === 'asc' ? 1 : -1;
  for (let at = order === 'asc' ? 0 : times.length - 1; at >= 0 && at < times.length; at += step) {
    const ts = times[at] as number;
    if (ts < from || ts >= to) continue;
    if (page.times.length === limit) {
      page.reached = order === 'asc' ? ts : ts + 1;
      return true;
    }
    page.times.push(ts);
    page.values.push(values[at] as number);
  }
  return false;
}

import type { Client } from '../api/client.ts';
import { keyOf } from '../api/stream/index.ts';
import type { Zone } from '../format.ts';
import { momentOf, UTC } from '../format.ts';
import { useQuery, useServices } from '../state/hooks.ts';
import type { Range, Shape } from './shape.ts';
import { addBin, emptyShape, shapeOfBins, shapeOfSamples } from './shape.ts';

/** Below this number of samples, each sample is drawn. */
const FEW_SAMPLES = 2_000;
/** Width of the narrowest bins in ms. If a range has only a few such bins, the chart may draw more than `FEW_SAMPLES` samples. */
const NARROWEST_BIN_MS = 1000;
const FEW_BINS = 120;
const MOST_SAMPLES = 40_000;
const MINUTE_MS = 60_000;

type Sensor = { device_id: string; sensor_id: string };

/** @param zone time zone that defines the days */
export function createReader(client: Client, { device_id, sensor_id }: Sensor, zone: Zone = UTC) {
  return {
    async bins(range: Range, points: number, signal: AbortSignal): Promise<Shape> {
      return shapeOfBins(await client.series(device_id, sensor_id, { ...range, points }, signal), range);
    },

    /** @returns shape with bins of whole days; the range may cut the first and the last day */
    async days(range: Range, signal: AbortSignal): Promise<Shape> {
      const parts = partsOfRange(range, zone).map(async (part) => {
        const { from, to, offsetMs } = part;
        const query = { from, to, points: daysOf(part), utc_offset: offsetMs / MINUTE_MS };
        return shapeOfBins(await client.series(device_id, sensor_id, query, signal), part);
      });
      return joinDays(await Promise.all(parts), range, zone);
    },

    /** @param days number of days before `ts` @returns start of that day in epoch ms */
    dayBefore: (ts: number, days: number): number => startOfDay(ts, zone, -days),

    async samples(range: Range, signal: AbortSignal): Promise<Shape> {
      return shapeOfSamples(await client.samples(device_id, sensor_id, range, signal), range);
    },
  };
}

export type Reader = ReturnType<typeof createReader>;

export function areFew({ count, stepMs }: Shape): boolean {
  const samples = count.reduce((sum, samplesOfBin) => sum + samplesOfBin, 0);
  if (samples <= FEW_SAMPLES) return true;
  return stepMs === NARROWEST_BIN_MS && count.length <= FEW_BINS && samples <= MOST_SAMPLES;
}

/** Maximum number of samples that the API reads for one chart. Longer ranges use the stored statistics of whole hours. */
const SAMPLES_READ = 200_000;
const LONG_MS = 2 * 86_400_000;
const HOUR_MS = 3_600_000;
const POINTS = { min: 200, max: 2000 };
const DEFAULT_INTERVAL_MS = 1000;

/**
 * Returns the number of bins to request: about one bin per pixel. Long ranges use the stored hourly statistics, so their bins
 * are not narrower than an hour, unless the sensor is slow.
 *
 * @param width width of the chart in CSS pixels
 */
export function pointsFor(lengthMs: number, width: number, intervalMs: number | null): number {
  const fine = Math.min(Math.max(Math.round(width), POINTS.min), POINTS.max);
  const isMuch = lengthMs / (intervalMs ?? DEFAULT_INTERVAL_MS) > SAMPLES_READ;
  return lengthMs > LONG_MS && isMuch ? Math.min(fine, Math.ceil(lengthMs / HOUR_MS) + 1) : fine;
}

/** Number of bins of the overview strip, which is as wide as the page: one bin for a few pixels. */
const OVERVIEW_POINTS = 400;
const ENOUGH_POINTS = 60;
/** Maximum number of reads for the overview. Each narrows the range: three reads reach the last minutes of a year. */
const MOST_LOOKS = 4;
const REFRESH = { refreshMs: 60_000 };

/** Reads bins from the first stored sample to now. @returns null: not known yet, or there are no samples */
export function useExtent(sensor: { device_id: string; sensor_id: string } | null): Shape | null {
  const { client, clock, live } = useServices();
  const { data } = useQuery(
    sensor ? `${keyOf(sensor)} ${live.historyChanges.value}` : '',
    async (signal) => {
      if (!sensor) return null;
      const reader = createReader(client, sensor);
      const to = clock.now();
      let bins = await reader.bins({ from: 0, to }, OVERVIEW_POINTS, signal);
      for (let look = 1; look < MOST_LOOKS; look += 1) {
        const { ts, stepMs } = bins;
        const from = ts[0] ?? to;
        if (ts.length >= ENOUGH_POINTS || from >= to) break;
        bins = await reader.bins({ from, to }, pointsFor(to - from, OVERVIEW_POINTS, null), signal);
        if (bins.stepMs === stepMs) break;
      }
      return bins.ts.length > 0 ? { ...bins, from: bins.ts[0] ?? 0 } : null;
    },
    REFRESH,
  );
  return data;
}

export const DAY_MS = 86_400_000;
/** Length in ms above which a window uses bins of whole days, because narrower bins draw the daily cycle as a dense comb. */
const DAILY_FROM_MS = 60 * DAY_MS;
/** Maximum length in ms of a window with bins of whole days. A longer window has more days than one API answer has points. */
const DAILY_TO_MS = 1990 * DAY_MS;

export const isDaily = (lengthMs: number): boolean => lengthMs > DAILY_FROM_MS && lengthMs <= DAILY_TO_MS;

/** @param days number of days after the day of `ts` @returns start of that day in epoch ms */
export function startOfDay(ts: number, zone: Zone, days: number = 0): number {
  if (zone.name === 'local') {
    const date = new Date(ts);
    date.setHours(0, 0, 0, 0);
    date.setDate(date.getDate() + days);
    return date.getTime();
  }
  const day = Math.floor((ts + zone.offsetAt(ts)) / DAY_MS) + days;
  return momentOf(day * DAY_MS, zone);
}

/** Splits a range into parts with one UTC offset each. Two parts meet at the midnight after a clock change. */
export function partsOfRange({ from, to }: Range, zone: Zone): (Range & { offsetMs: number })[] {
  const parts: (Range & { offsetMs: number })[] = [];
  let start = from;
  let offsetMs = zone.offsetAt(startOfDay(from, zone));
  for (let day = startOfDay(from, zone, 1); day < to; day = startOfDay(day, zone, 1)) {
    const next = zone.offsetAt(day);
    if (next === offsetMs) continue;
    parts.push({ from: start, to: day, offsetMs });
    start = day;
    offsetMs = next;
  }
  return [...parts, { from: start, to, offsetMs }];
}

export const daysOf = ({ from, to, offsetMs }: Range & { offsetMs: number }): number =>
  Math.ceil((to + offsetMs) / DAY_MS) - Math.floor((from + offsetMs) / DAY_MS);

/** Joins narrow bins to bins of whole days of the zone, which may have 23 or 25 hours. @param parts oldest first; no bin spans two days */
export function joinDays(parts: Shape[], range: Range, zone: Zone): Shape {
  const days = { ...emptyShape(range), stepMs: DAY_MS };
  for (const part of parts) {
    for (const [at, ts] of part.ts.entries()) addBin(days, startOfDay(ts, zone), part, at);
  }
  return days;
}

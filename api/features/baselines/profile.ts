import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import type { HourRow } from '../../store/history/reads.ts';
import { PROFILE_FLOATS } from './store.ts';

/**
 * Computes the baseline of a sensor from the statistics of its hours. `docs/explanation/baselines.md` has the
 * formula and its reasons. All figures are medians, so a fault in the history does not become usual.
 */

/** Four weeks, so that each hour of the week occurs four times. */
export const LEARNED_DAYS = 28;

/** In a slot: hour of the week, or hour of the day. With fewer hours the mean of more hours is used. */
const LEAST_OF_SLOT = 3;
/** A whole day. With fewer hours, the daily rhythm would look like outliers. */
const LEAST_HOURS = 24;
/** At or next to an hour of the day: three days with three hours each. With fewer hours the deviation of all hours is used. */
const LEAST_POOL = 9;
/** A new level in most of the hours of the recent time counts as usual. */
const RECENT_MS = 2 * DAY_MS;
const LEAST_RECENT = 12;

const HOURS_A_WEEK = 168;
const HOURS_A_DAY = 24;

/** Factors from a median absolute deviation, and from a mean absolute deviation, to the standard deviation of a normal distribution. */
const FROM_MEDIAN = 1.4826;
const FROM_MEAN = 1.2533;

/** As a share of the mean. Smaller differences mean nothing. */
const RESOLUTION = 1e-4;
/** For a sensor whose value never changed, as a share of the mean. Its real resolution is unknown. */
const RESOLUTION_OF_CONSTANT = 1e-2;
/** As a share of the mean. A smaller spread comes from rounding. */
const ROUNDING = 1e-9;

/** Limit of the expected distance between the extreme of an hour and its mean, in deviations. */
const MOST_REACH = 2;
/** The expected maximum of 1, 2, 4, 8, 16 and 32 samples of a normal distribution, in standard deviations. */
const REACHES = [0, 0.564, 1.029, 1.424, 1.766, 2.07];

type LearnedHour = { slot: number; hour: number; mean: number; min: number; max: number; count: number };

/** @param rows hours of the last `LEARNED_DAYS`, in any order @returns NaN for hours without a usual value; null: too few hours */
export function learnProfile(
  rows: readonly Pick<HourRow, 'hour' | 'statistics'>[],
  day: number,
): Float32Array | null {
  const hours = rows.flatMap(learnedHour);
  if (hours.length < LEAST_HOURS) return null;
  const resolution = resolutionOf(hours);
  const centers = createCenters(hours);
  const level = levelOf(hours, centers);
  const residuals = hours.map((hour) => Math.abs(hour.mean - centers.without(hour)));
  const profile = new Float32Array(PROFILE_FLOATS);
  for (let index = 0; index < HOURS_A_DAY; index++) {
    const slot = slotOf(day + index * HOUR_MS);
    const { center, isWeekly } = centers.at(slot);
    const mean = Math.fround(center + (isWeekly ? level : 0));
    const deviation = Math.fround(deviationOf(hours, residuals, { slot, mean, resolution }));
    const isKnown = Number.isFinite(mean) && Number.isFinite(deviation);
    profile.set(isKnown ? [mean, deviation] : [Number.NaN, Number.NaN], 2 * index);
  }
  return profile;
}

/** Empty if the hour is not packed, or its sum exceeds a double. */
function learnedHour({ hour, statistics }: Pick<HourRow, 'hour' | 'statistics'>): LearnedHour[] {
  if (!statistics) return [];
  const { count, min, max, sum } = statistics;
  const mean = sum / count;
  if (!Number.isFinite(mean)) return [];
  return [{ slot: slotOf(hour), hour, mean, min, max, count }];
}

const slotOf = (ts: number): number => Math.floor(ts / HOUR_MS) % HOURS_A_WEEK;

/** The median for the hour of the week; with too few hours that for the hour of the day, and otherwise that of all hours. */
function createCenters(hours: readonly LearnedHour[]) {
  const weekly = sortedBy(hours, ({ slot }) => slot);
  const daily = sortedBy(hours, ({ slot }) => slot % HOURS_A_DAY);
  const all = hours.map(({ mean }) => mean).sort(ascending);

  function meansAt(slot: number): { means: number[]; isWeekly: boolean } {
    const ofWeek = weekly.get(slot) ?? [];
    if (ofWeek.length >= LEAST_OF_SLOT) return { means: ofWeek, isWeekly: true };
    const ofDay = daily.get(slot % HOURS_A_DAY) ?? [];
    return { means: ofDay.length >= LEAST_OF_SLOT ? ofDay : all, isWeekly: false };
  }

  return {
    at(slot: number) {
      const { means, isWeekly } = meansAt(slot);
      return { center: medianOf(means), isWeekly };
    },

    /** The mean that all other hours predict. A prediction that includes the hour itself would look too accurate. */
    without({ slot, mean }: LearnedHour) {
      const { means } = meansAt(slot);
      return medianOf(means, means.indexOf(mean));
    },
  };
}

type Centers = ReturnType<typeof createCenters>;

/** The term `l` of the formula. */
function levelOf(hours: readonly LearnedHour[], centers: Centers) {
  const newest = hours.reduce((latest, { hour }) => Math.max(latest, hour), 0);
  const offsets: number[] = [];
  for (const hour of hours) {
    if (hour.hour <= newest - RECENT_MS || !centers.at(hour.slot).isWeekly) continue;
    offsets.push(hour.mean - centers.without(hour));
  }
  return offsets.length < LEAST_RECENT ? 0 : medianOf(offsets.sort(ascending));
}

/** Combines how far hourly means are from their predictions (`residuals`), and how far samples are from the mean of their hour. */
function deviationOf(
  hours: readonly LearnedHour[],
  residuals: readonly number[],
  { slot, mean, resolution }: { slot: number; mean: number; resolution: number },
) {
  const near = hours.flatMap((hour, index) => (isNear(hour.slot, slot) ? [index] : []));
  const pool = near.length < LEAST_POOL ? hours.map((_, index) => index) : near;
  const between = spreadOf(
    pool.map((index) => Number(residuals[index])),
    FROM_MEDIAN,
    FROM_MEAN,
  );
  const within = spreadOf(
    pool.flatMap((index) => withinOf(hours[index] as LearnedHour)),
    1,
    1,
  );
  const spread = Math.hypot(between, within);
  const size = Math.abs(mean);
  if (resolution === 0 && spread <= ROUNDING * size) return RESOLUTION_OF_CONSTANT * size;
  return Math.max(spread, resolution, RESOLUTION * size);
}

/** The smallest difference between two extremes. A nearly constant sensor with steps of 0.5 °C would be far off with its first step. */
function resolutionOf(hours: readonly LearnedHour[]): number {
  const extremes = hours.flatMap(({ min, max }) => [min, max]).sort(ascending);
  let least = Number.POSITIVE_INFINITY;
  for (let index = 1; index < extremes.length; index++) {
    const [low, high] = [Number(extremes[index - 1]), Number(extremes[index])];
    if (high - low > ROUNDING * Math.max(Math.abs(low), Math.abs(high))) least = Math.min(least, high - low);
  }
  const range = Number(extremes.at(-1)) - Number(extremes[0]);
  return Number.isFinite(least) ? Math.min(least, range / 2) : 0;
}

function isNear(a: number, b: number): boolean {
  const apart = Math.abs((a % HOURS_A_DAY) - (b % HOURS_A_DAY));
  return apart <= 1 || apart === HOURS_A_DAY - 1;
}

/** Estimates the deviation of the samples by their extreme; empty for a single sample. */
const withinOf = ({ mean, min, max, count }: LearnedHour): number[] =>
  count < 2 ? [] : [Math.max(max - mean, mean - min) / expectedExtreme(count)];

export function expectedExtreme(count: number): number {
  const place = Math.log2(count);
  const index = Math.floor(place);
  const [low, high] = [REACHES[index], REACHES[index + 1]];
  if (low === undefined || high === undefined) return MOST_REACH;
  return Math.min(MOST_REACH, low + (place - index) * (high - low));
}

/** Most deviations are 0 for a value that changes rarely and is still not constant. Then their mean is used, not the median. */
function spreadOf(sizes: number[], fromMedian: number, fromMean: number) {
  if (sizes.length === 0) return 0;
  const median = medianOf(sizes.sort(ascending));
  if (median > 0) return fromMedian * median;
  return (fromMean * sizes.reduce((sum, size) => sum + size, 0)) / sizes.length;
}

const ascending = (a: number, b: number) => a - b;

function sortedBy(
  hours: readonly LearnedHour[],
  slotOfHour: (hour: LearnedHour) => number,
): Map<number, number[]> {
  const slots: Map<number, number[]> = new Map();
  for (const hour of hours) {
    const slot = slotOfHour(hour);
    const means = slots.get(slot);
    if (means) means.push(hour.mean);
    else slots.set(slot, [hour.mean]);
  }
  for (const means of slots.values()) means.sort(ascending);
  return slots;
}

/** @param sorted not empty @param skipped index of a number that is left out */
function medianOf(sorted: readonly number[], skipped: number = sorted.length) {
  const count = skipped < sorted.length ? sorted.length - 1 : sorted.length;
  const valueAt = (index: number) => Number(sorted[index < skipped ? index : index + 1]);
  const half = count >> 1;
  return count % 2 === 1 ? valueAt(half) : valueAt(half - 1) / 2 + valueAt(half) / 2;
}

import { DAY_MS, HOUR_MS } from '../../../schema/rules.js';
import { PROFILE_FLOATS } from '../../store/index.js';

/** @import { HourRow } from '../../store/history/reads.js' */

/**
 * Computes the baseline of a sensor from the statistics of its hours. `docs/explanation/baselines.md` has the
 * formula and its reasons. All figures are medians, so a fault in the history does not become usual.
 */

/** Days of history that a baseline is learned from: four of each hour of the week. */
export const LEARNED_DAYS = 28;

/**
 * Number of hours in the same slot (hour of the week, or hour of the day) that are enough for a mean of their
 * own.
 */
const LEAST_OF_SLOT = 3;
/** Number of hours before any value counts as usual: a whole day, so that its rhythm is no outlier. */
const LEAST_HOURS = 24;
/**
 * Number of hours around an hour of the day that are enough for a deviation of their own: three days of three
 * hours.
 */
const LEAST_POOL = 9;
/** Length of the last hours, in ms. A change of level in most of them becomes usual. */
const RECENT_MS = 2 * DAY_MS;
const LEAST_RECENT = 12;

const HOURS_A_WEEK = 168;
const HOURS_A_DAY = 24;

/**
 * Factors from a median absolute deviation, and from a mean absolute deviation, to the standard deviation of
 * a normal distribution.
 */
export const FROM_MEDIAN = 1.4826;
export const FROM_MEAN = 1.2533;

/** Resolution as a share of the mean. Smaller differences mean nothing. */
const RESOLUTION = 1e-4;
/**
 * Resolution of a sensor that never changed, as a share of the mean, because its real resolution is unknown.
 */
export const RESOLUTION_OF_CONSTANT = 1e-2;
/** A smaller spread, as a share of the mean, is the rounding of equal values. */
const ROUNDING = 1e-9;

/** An extreme of a usual hour is no farther than this from its mean, in deviations. */
const MOST_REACH = 2;
/** The expected maximum of 1, 2, 4, 8, 16 and 32 samples of a normal distribution, in standard deviations. */
const REACHES = [0, 0.564, 1.029, 1.424, 1.766, 2.07];

/** @typedef {{ slot: number, hour: number, mean: number, excursion: number, count: number }} LearnedHour `slot`: hour of the week */

/**
 * Learns the baseline of one UTC day.
 *
 * @param {readonly Pick<HourRow, 'hour' | 'statistics'>[]} rows of the last `LEARNED_DAYS`, in any order; hours may be missing
 * @param {number} day epoch ms of its start
 * @returns {Float32Array | null} mean and deviation of each hour, NaN where nothing is usual; null: too few hours
 */
export function learnProfile(rows, day) {
  const hours = rows.flatMap(learnedHour);
  if (hours.length < LEAST_HOURS) return null;
  const centers = createCenters(hours);
  const level = levelOf(hours, centers);
  const residuals = hours.map((hour) => Math.abs(hour.mean - centers.without(hour)));
  const profile = new Float32Array(PROFILE_FLOATS);
  for (let index = 0; index < HOURS_A_DAY; index++) {
    const slot = slotOf(day + index * HOUR_MS);
    const { center, isWeekly } = centers.at(slot);
    const mean = Math.fround(center + (isWeekly ? level : 0));
    const deviation = Math.fround(deviationOf(hours, residuals, slot, mean));
    const isKnown = Number.isFinite(mean) && Number.isFinite(deviation);
    profile.set(isKnown ? [mean, deviation] : [Number.NaN, Number.NaN], 2 * index);
  }
  return profile;
}

/** @param {Pick<HourRow, 'hour' | 'statistics'>} row @returns {LearnedHour[]} one, or none: it is not packed, or its sum is beyond a double */
function learnedHour({ hour, statistics }) {
  if (!statistics) return [];
  const { count, min, max, sum } = statistics;
  const mean = sum / count;
  if (!Number.isFinite(mean)) return [];
  return [{ slot: slotOf(hour), hour, mean, excursion: Math.max(max - mean, mean - min), count }];
}

/** @param {number} ts epoch ms @returns {number} its hour of the week; 0 is where the epoch began, a midnight */
const slotOf = (ts) => Math.floor(ts / HOUR_MS) % HOURS_A_WEEK;

/**
 * The usual mean of each hour of the week: of the same hour of the week, else of the same hour of the day, else of all hours.
 *
 * @param {readonly LearnedHour[]} hours
 */
function createCenters(hours) {
  const weekly = sortedBy(hours, ({ slot }) => slot);
  const daily = sortedBy(hours, ({ slot }) => slot % HOURS_A_DAY);
  const all = hours.map(({ mean }) => mean).sort(ascending);

  /** @param {number} slot @returns {{ means: number[], isWeekly: boolean }} sorted */
  function meansAt(slot) {
    const ofWeek = weekly.get(slot) ?? [];
    if (ofWeek.length >= LEAST_OF_SLOT) return { means: ofWeek, isWeekly: true };
    const ofDay = daily.get(slot % HOURS_A_DAY) ?? [];
    return { means: ofDay.length >= LEAST_OF_SLOT ? ofDay : all, isWeekly: false };
  }

  return {
    /** @param {number} slot hour of the week */
    at(slot) {
      const { means, isWeekly } = meansAt(slot);
      return { center: medianOf(means), isWeekly };
    },

    /**
     * The mean that the other hours predict for an hour. A prediction that includes the hour itself would
     * seem too accurate.
     *
     * @param {LearnedHour} hour
     */
    without({ slot, mean }) {
      const { means } = meansAt(slot);
      return medianOf(means, means.indexOf(mean));
    },
  };
}

/** @typedef {ReturnType<typeof createCenters>} Centers */

/**
 * How far the last two days were above the usual, because of a new level or a drift.
 *
 * @param {readonly LearnedHour[]} hours
 * @param {Centers} centers
 */
function levelOf(hours, centers) {
  const newest = hours.reduce((latest, { hour }) => Math.max(latest, hour), 0);
  /** @type {number[]} */
  const offsets = [];
  for (const hour of hours) {
    if (hour.hour <= newest - RECENT_MS || !centers.at(hour.slot).isWeekly) continue;
    offsets.push(hour.mean - centers.without(hour));
  }
  return offsets.length < LEAST_RECENT ? 0 : medianOf(offsets.sort(ascending));
}

/**
 * Combines two spreads: that of the hourly means around their predictions, and that of the samples within an
 * hour around its mean.
 *
 * @param {readonly LearnedHour[]} hours
 * @param {readonly number[]} residuals of these hours, absolute
 * @param {number} slot hour of the week
 * @param {number} mean
 */
function deviationOf(hours, residuals, slot, mean) {
  const near = hours.flatMap((hour, index) => (isNear(hour.slot, slot) ? [index] : []));
  const pool = near.length < LEAST_POOL ? hours.map((_, index) => index) : near;
  const between = spreadOf(
    pool.map((index) => Number(residuals[index])),
    FROM_MEDIAN,
    FROM_MEAN,
  );
  const within = spreadOf(
    pool.flatMap((index) => withinOf(/** @type {LearnedHour} */ (hours[index]))),
    1,
    1,
  );
  return resolved(Math.hypot(between, within), mean);
}

/** @param {number} spread @param {number} mean @returns {number} the deviation: the spread, or the resolution if that is larger */
export function resolved(spread, mean) {
  const size = Math.abs(mean);
  return spread <= ROUNDING * size ? RESOLUTION_OF_CONSTANT * size : Math.max(spread, RESOLUTION * size);
}

/** @param {number} a @param {number} b hours of the week @returns {boolean} whether their hours of the day are the same or next to each other */
function isNear(a, b) {
  const apart = Math.abs((a % HOURS_A_DAY) - (b % HOURS_A_DAY));
  return apart <= 1 || apart === HOURS_A_DAY - 1;
}

/** @param {LearnedHour} hour @returns {number[]} the deviation of its samples by its extreme; none of a single sample */
const withinOf = ({ excursion, count }) => (count < 2 ? [] : [excursion / expectedExtreme(count)]);

/** @param {number} count of samples @returns {number} how far from the mean the extreme of so many is expected, in deviations */
export function expectedExtreme(count) {
  const place = Math.log2(count);
  const index = Math.floor(place);
  const [low, high] = [REACHES[index], REACHES[index + 1]];
  if (low === undefined || high === undefined) return MOST_REACH;
  return Math.min(MOST_REACH, low + (place - index) * (high - low));
}

/**
 * The median of absolute deviations. If most are 0, their mean: a value that changes rarely is still not constant.
 *
 * @param {number[]} sizes
 * @param {number} fromMedian factor of the median
 * @param {number} fromMean factor of the mean
 */
export function spreadOf(sizes, fromMedian, fromMean) {
  if (sizes.length === 0) return 0;
  const median = medianOf(sizes.sort(ascending));
  if (median > 0) return fromMedian * median;
  return (fromMean * sizes.reduce((sum, size) => sum + size, 0)) / sizes.length;
}

/** @param {number} a @param {number} b */
export const ascending = (a, b) => a - b;

/**
 * @param {readonly LearnedHour[]} hours
 * @param {(hour: LearnedHour) => number} slotOfHour slot of an hour
 * @returns {Map<number, number[]>} their means, sorted
 */
function sortedBy(hours, slotOfHour) {
  /** @type {Map<number, number[]>} */
  const slots = new Map();
  for (const hour of hours) {
    const slot = slotOfHour(hour);
    const means = slots.get(slot);
    if (means) means.push(hour.mean);
    else slots.set(slot, [hour.mean]);
  }
  for (const means of slots.values()) means.sort(ascending);
  return slots;
}

/**
 * @param {readonly number[]} sorted not empty
 * @param {number} [skipped] index of one that does not count
 */
export function medianOf(sorted, skipped = sorted.length) {
  const count = skipped < sorted.length ? sorted.length - 1 : sorted.length;
  const valueAt = (/** @type {number} */ index) => Number(sorted[index < skipped ? index : index + 1]);
  const half = count >> 1;
  return count % 2 === 1 ? valueAt(half) : valueAt(half - 1) / 2 + valueAt(half) / 2;
}

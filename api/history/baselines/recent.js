import { uuidText } from '../../../schema/ids.js';
import { visitBlock } from '../../../schema/packed/block.js';
import { bucketOf, HOUR_MS } from '../../../schema/rules.js';
import { allParts } from '../../store/index.js';
import {
  ascending,
  FROM_MEAN,
  FROM_MEDIAN,
  medianOf,
  RESOLUTION_OF_CONSTANT,
  resolved,
  spreadOf,
} from './profile.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { Steps } from '../packing/steps.js' */

/**
 * Computes the baseline of a sensor from its newest samples, as long as it has too little history.
 * `docs/explanation/baselines.md` has the formula and its reasons.
 */

/** Length of the time before now whose samples make a baseline, in ms. */
export const WINDOW_MS = HOUR_MS;
/** Limit of hours that are read if a sensor has too few samples within the window. */
const MOST_HOURS = 12;

/** Least number of samples for a baseline. With thirty samples, the median of their distances is accurate to about a fifth. */
export const LEAST_SAMPLES = 30;
/** Shortest time that the samples of a baseline must cover, in ms. */
export const LEAST_SPAN_MS = 60_000;

/**
 * Share of the samples that may be far from the mean and still count as outliers. A larger share is a second usual state
 * of the sensor, or a drift.
 */
const FAR_SHARE = 1 / 4;
/** Distance in deviations at which a second state may be from the mean. The deviation is widened to allow it. */
const STATE_REACH = 2;

/** Limit of rows for the first read of a range of an hour. If fewer rows are returned, the range has no more rows. */
const FEW_ROWS = 80;
/**
 * If the range has more rows, only some are read: the range is divided into `STRETCHES` stretches of equal length, and of
 * each stretch the newest `ROWS_A_STRETCH` rows are read. No stretch of an hour lasts a whole number of minutes.
 */
const STRETCHES = 11;
const ROWS_A_STRETCH = 32;
/** Approximate limit of the samples of a sensor that are used of one read. */
const MOST_SAMPLES = 1024;

/** @typedef {{ times: number[], values: number[] }} Samples of a sensor, in no order; `times`: epoch ms */

/** @typedef {{ mean: number, deviation: number, from: number, to: number }} RecentBaseline `from`, `to`: its oldest and newest time, epoch ms */

/**
 * Computes the baseline of a sensor from its newest samples.
 *
 * @param {Samples} samples
 * @returns {RecentBaseline | null} null: too few samples
 */
export function learnRecent({ times, values }) {
  const { count, from, to } = spanOf({ times });
  if (!isEnough({ count, from, to })) return null;
  const order = times.map((_, index) => index).sort((a, b) => Number(times[a]) - Number(times[b]));
  const inOrder = order.map((index) => Number(values[index]));
  // The mean is rounded to a single-precision float, as in learned baselines.
  const mean = Math.fround(medianOf(inOrder.toSorted(ascending)));
  const drift = sortedMedian(inOrder.slice(count >> 1)) - sortedMedian(inOrder.slice(0, count >> 1));
  const deviation = resolved(Math.hypot(recentSpread(values, mean), drift), mean);
  return Number.isFinite(mean) && Number.isFinite(deviation) ? { mean, deviation, from, to } : null;
}

/** Returns the spread of values around their median. @param {number[]} values @param {number} mean the median of the values */
function recentSpread(values, mean) {
  const distances = values.map((value) => Math.abs(value - mean)).sort(ascending);
  const far = Number(distances[Math.floor((1 - FAR_SHARE) * (distances.length - 1))]);
  const spread = Math.max(spreadOf(distances, FROM_MEDIAN, FROM_MEAN), far / STATE_REACH);
  // If most values are equal, the resolution of the sensor is unknown.
  return medianOf(distances) === 0 && spread > 0
    ? Math.max(spread, RESOLUTION_OF_CONSTANT * Math.abs(mean))
    : spread;
}

/** @param {number[]} values */
const sortedMedian = (values) => medianOf(values.sort(ascending));

/** @param {Pick<Samples, 'times'>} samples @returns {{ count: number, from: number, to: number }} epoch ms */
function spanOf({ times }) {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const time of times) {
    from = Math.min(from, time);
    to = Math.max(to, time);
  }
  return { count: times.length, from, to };
}

/** @param {ReturnType<typeof spanOf>} span */
const isEnough = ({ count, from, to }) => count >= LEAST_SAMPLES && to - from >= LEAST_SPAN_MS;

/**
 * Estimates how long a sensor needs until it has enough samples, by its rate so far.
 *
 * @param {Samples | undefined} samples samples so far, which are too few
 * @param {number} now epoch ms
 * @returns {number} estimated time, in ms
 */
export function missingMs(samples, now) {
  if (!samples) return LEAST_SPAN_MS;
  const { count, from, to } = spanOf(samples);
  if (count < 2) return now - from;
  return Math.max(LEAST_SPAN_MS - (to - from), ((LEAST_SAMPLES - count) * (to - from)) / (count - 1));
}

/**
 * Reads the newest samples of all sensors of a device together, because a row has samples of many sensors. It reads the
 * last hour. It reads earlier hours only if a sensor has too few samples, and stops at the first hour without rows. Of an
 * hour with many rows only some rows are read, so that the work is bounded.
 *
 * @param {object} deps
 * @param {Pick<Store, 'samples'>} deps.store
 * @param {Pick<Steps, 'run'>} deps.steps
 * @param {Buffer} device 16 bytes
 * @param {number} now epoch ms
 * @param {readonly string[]} wanted ids of the sensors that need samples
 * @returns {Promise<Map<string, Samples>>} samples by sensor id
 */
export async function readRecent({ store, steps }, device, now, wanted) {
  /** @type {Map<string, Samples>} */
  const sensors = new Map();
  /** Sensors that need no samples of earlier hours. @type {Set<string>} */
  const complete = new Set();
  for (const { from, to } of stretchesOf(now)) {
    const isEarlier = to <= now - WINDOW_MS;
    if (isEarlier) for (const [id, samples] of sensors) if (isEnough(spanOf(samples))) complete.add(id);
    if (isEarlier && wanted.every((id) => complete.has(id))) break;
    const rows = await readStretch(from, to);
    if (isEarlier && rows === 0) break;
  }
  return sensors;

  /** @param {number} from epoch ms @param {number} to epoch ms, in the same hour @returns {Promise<number>} number of rows that were read */
  async function readStretch(from, to) {
    const { rows, parts } = await readPart(0, from, to);
    let sum = rows;
    for (const part of allParts(parts)) sum += (await readPart(part, from, to)).rows;
    return sum;
  }

  /** @param {number} part @param {number} from @param {number} to */
  async function readPart(part, from, to) {
    const { blocks, parts } = await steps.run(() =>
      store.samples.newest(device, part, { from, to }, FEW_ROWS),
    );
    if (blocks.length < FEW_ROWS) {
      collect(blocks, from);
      return { rows: blocks.length, parts };
    }
    // The last stretch extends to `to`, so that it has the samples with a time after `now`.
    const length = (Math.min(to, now) - from) / STRETCHES;
    for (let index = 0; index < STRETCHES; index++) {
      const start = Math.round(from + index * length);
      const end = index === STRETCHES - 1 ? to : Math.round(from + (index + 1) * length);
      await steps.run(async () => {
        const found = await store.samples.newest(device, part, { from: start, to: end }, ROWS_A_STRETCH);
        collect(found.blocks, from);
      });
    }
    return { rows: blocks.length, parts };
  }

  /** @param {Buffer[]} blocks of one hour @param {number} from epoch ms; earlier samples do not count */
  function collect(blocks, from) {
    const most = Math.ceil(MOST_SAMPLES / Math.max(1, blocks.length));
    for (const blob of blocks) {
      try {
        visitBlock(bucketOf(from), blob, (sensor, series) => add(uuidText(sensor), series(), from, most));
      } catch (error) {
        // The bytes are no block. They are skipped here, because packing counts and reports them.
        if (!(error instanceof RangeError)) throw error;
      }
    }
  }

  /** @param {string} sensor @param {Series} series @param {number} from epoch ms @param {number} most approximate limit of added samples */
  function add(sensor, { times, values }, from, most) {
    if (complete.has(sensor)) return;
    const samples = sensors.get(sensor) ?? { times: [], values: [] };
    sensors.set(sensor, samples);
    const step = Math.ceil(times.length / most);
    for (let index = times.length - 1; index >= 0; index -= step) {
      const time = Number(times[index]);
      if (time < from) return;
      samples.times.push(time);
      samples.values.push(Number(values[index]));
    }
  }
}

/**
 * Divides the last hours into ranges, the newest first. A range begins where an hour of the clock or the window begins.
 *
 * @param {number} now epoch ms
 * @returns {Array<{ from: number, to: number }>} epoch ms
 */
function stretchesOf(now) {
  const stretches = [];
  // The first range ends with the present hour, so that it has the samples of devices whose clocks are ahead.
  let to = bucketOf(now) + HOUR_MS;
  while (to > now - MOST_HOURS * HOUR_MS) {
    const start = bucketOf(to - 1);
    const from = to > now - WINDOW_MS ? Math.max(start, now - WINDOW_MS) : start;
    stretches.push({ from, to });
    to = from;
  }
  return stretches;
}

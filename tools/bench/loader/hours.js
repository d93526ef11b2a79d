import { fileURLToPath } from 'node:url';
import { bucketOf, HOUR_MS } from '../../../schema/rules.js';
import { createRandom } from '../../../simulator/random.js';
import { readBatches } from '../../../simulator/replay/samples.js';
import { createTimeline, surveyFile } from '../../../simulator/replay/survey.js';
import { pulse } from '../../../simulator/signals/body.js';
import { samplesOfHour } from './samples.js';

/** @import { SignalKind } from './samples.js' */

/** Hourly pressure, temperature and wind of a year in Seattle. */
const RECORDED = new URL(
  '../../../node_modules/vega-datasets/data/seattle-weather-hourly-normals.csv',
  import.meta.url,
);

/** An hour of the file takes a second. */
const SPEED = 3600;

const SEED = 11;
const HOUR = Date.UTC(2026, 10, 21, 9);

/** @typedef {{ hour: number, times: Float64Array, values: Float64Array }} SensorHour */

/**
 * Hours of sensors that measure once a second.
 *
 * @param {SensorHour[]} recorded
 * @param {number} jitterMs by which their clocks are off at most
 * @returns {Record<string, SensorHour[]>}
 */
export function secondlyHours(recorded, jitterMs) {
  const decimals = made('decimals', jitterMs);
  return {
    'decimals of two digits': [decimals],
    'whole numbers': [{ ...decimals, values: pulseOf(decimals.values.length) }],
    'full doubles': [made('full', jitterMs)],
    'real data: weather': recorded.map((hour) => jittered(hour, jitterMs)),
  };
}

/** @param {SignalKind} signal @param {number} jitterMs @returns {SensorHour} */
function made(signal, jitterMs) {
  const recipe = { seed: SEED, signal, intervalMs: 1000, jitterMs };
  return { hour: HOUR, ...samplesOfHour(recipe, { device: 'bench', sensor: signal }, HOUR) };
}

/** @param {number} count */
function pulseOf(count) {
  const next = pulse.create(createRandom(SEED, 'pulse'), 1000);
  return Float64Array.from({ length: count }, () => next());
}

/** @returns {Promise<SensorHour[]>} of real sensors, whole hours only */
export async function recordedHours() {
  const path = fileURLToPath(RECORDED);
  const survey = await surveyFile(path);
  const timeline = createTimeline({ last: survey.last, now: HOUR, speed: SPEED });
  const skipped = { empty: 0, unreadable: 0, untimed: 0, colliding: 0 };
  /** @type {Map<string, { hour: number, samples: Array<{ ts: number, value: number }> }>} */
  const hours = new Map();
  for await (const batch of readBatches(path, survey, { timeline, rowsPerBatch: survey.rows, skipped })) {
    for (const { name, samples } of batch) {
      for (const sample of samples) {
        const hour = bucketOf(sample.ts);
        const key = `${name} ${hour}`;
        const found = hours.get(key);
        if (found) found.samples.push(sample);
        else hours.set(key, { hour, samples: [sample] });
      }
    }
  }
  return [...hours.values()]
    .filter(({ samples }) => samples.length === HOUR_MS / 1000)
    .map(({ hour, samples }) => ({
      hour,
      times: Float64Array.from(samples, ({ ts }) => ts),
      values: Float64Array.from(samples, ({ value }) => value),
    }));
}

/** @param {SensorHour} of @param {number} jitterMs @returns {SensorHour} */
function jittered({ hour, times, values }, jitterMs) {
  const random = createRandom(SEED, 'jitter');
  // Half an interval later, so that none leaves its hour.
  const late = jitterMs > 0 ? 500 : 0;
  return {
    hour,
    times: times.map((time) => time + late + Math.floor(random.between(-jitterMs, jitterMs))),
    values,
  };
}

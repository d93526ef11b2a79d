import { fileURLToPath } from 'node:url';
import { packHour } from '../../../schema/packed/hour/pack-hour.js';
import { unpackSamples } from '../../../schema/packed/unpack.js';
import { bucketOf, HOUR_MS } from '../../../schema/rules.js';
import { createRandom } from '../../../simulator/random.js';
import { readBatches } from '../../../simulator/replay/samples.js';
import { createTimeline, surveyFile } from '../../../simulator/replay/survey.js';
import { pulse } from '../../../simulator/signals/body.js';
import { samplesOfHour } from '../loader/data-set.js';
import { startObserving } from '../measure/machine.js';
import { figure, percent } from '../report/table.js';

/** @import { SignalKind } from '../loader/data-set.js' */
/** @import { Part } from './index.js' */

/** By which clocks are off at most, in ms. */
const CLOCKS = { 'exact clock': 0, '20 ms of jitter': 20 };

/** Share of a run of a comparison, for each way of packing and each signal. */
const SHARE = 1 / 10;

/** @typedef {{ signal: string, clock: keyof typeof CLOCKS, hour: Packing }} Size */

/**
 * Bytes of a sample in a packed hour, and the cost of packing and unpacking it.
 *
 * @type {Part<{ sizes: Size[], steal: number }>}
 */
export const historySize = {
  name: 'history-size',
  title: 'History: an hour at 1 Hz, packed',

  async run({ flags, status }) {
    const recorded = await recordedHours();
    const observed = await startObserving({});
    /** @type {Size[]} */
    const sizes = [];
    for (const clock of /** @type {Array<keyof typeof CLOCKS>} */ (Object.keys(CLOCKS))) {
      for (const [signal, hours] of Object.entries(secondlyHours(recorded, CLOCKS[clock]))) {
        status(`${signal}, ${clock}`);
        sizes.push({ signal, clock, hour: measurePacking(hours, flags.runMs * SHARE) });
      }
    }
    const { steal } = await observed();
    return { sizes, steal };
  },

  tables: ({ sizes, steal }) => [
    {
      head: ['', 'bytes a sample', 'pack, CPU ns', 'unpack, CPU ns', 'steal'],
      rows: sizes.map(({ signal, clock, hour }) => [
        `${signal}, ${clock}`,
        figure(hour.bytes),
        figure(hour.packNs),
        figure(hour.unpackNs),
        percent(steal),
      ]),
    },
  ],
};

/**
 * The cost of packing hours.
 *
 * @typedef {object} Packing
 * @property {number} bytes a sample
 * @property {number} packNs CPU a sample
 * @property {number} unpackNs CPU a sample
 */

/**
 * @param {SensorHour[]} hours
 * @param {number} forMs each of packing and unpacking, after as much to warm up
 * @returns {Packing}
 */
function measurePacking(hours, forMs) {
  const packOne = (/** @type {SensorHour} */ { hour, times, values }) =>
    packHour(hour, times, values, 0, times.length);
  const packed = hours.map((hour) => ({ hour: hour.hour, blob: packOne(hour) }));
  const samples = hours.reduce((sum, { times }) => sum + times.length, 0);
  const bytes = packed.reduce((sum, { blob }) => sum + blob.length, 0);
  const nsOf = (/** @type {() => void} */ pass) => {
    repeat(pass, forMs);
    return repeat(pass, forMs) / samples;
  };
  return {
    bytes: bytes / samples,
    packNs: nsOf(() => {
      for (const hour of hours) packOne(hour);
    }),
    unpackNs: nsOf(() => {
      for (const { hour, blob } of packed) unpackSamples(hour, blob);
    }),
  };
}

/** @param {() => void} pass @param {number} forMs @returns {number} CPU ns a pass */
function repeat(pass, forMs) {
  const before = process.cpuUsage();
  const end = performance.now() + forMs;
  let passes = 0;
  do {
    pass();
    passes += 1;
  } while (performance.now() < end);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / passes;
}

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
function secondlyHours(recorded, jitterMs) {
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
async function recordedHours() {
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

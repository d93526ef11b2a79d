import { setTimeout as sleep } from 'node:timers/promises';
import { bucketOf, DAY_MS, dayOf, HOUR_MS, PACK_DELAY_MS } from '../../../schema/rules.js';
import { build } from '../loader/build.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Line } from '../environment/pipeline.js' */
/** @import { Shape } from '../load/shapes.js' */

/**
 * The amount of data that is stored before reading is measured.
 *
 * @typedef {object} Sizes
 * @property {{ sensors: number, days: number }} small
 * @property {{ sensors: number, days: number, longDays: number }} large `longDays`: days of one additional sensor
 * @property {number} intervalMs time between two samples of a sensor
 * @property {number} devices number of devices that publish during the reads, with four sensors each
 */

const RECIPE = { signal: /** @type {const} */ ('decimals'), jitterMs: 20 };

/** The seeds of two data sets with one device each: the device of the fleet, and the device with a long history. */
const FLEET = 1;
const LONG = 2;

/** Time at the old end of the retention that is left out, in ms. Otherwise data could expire before the last round has read it. */
const SPARE_MS = 4 * HOUR_MS;

/**
 * Returns the data to load, and the parts of the data to read.
 *
 * @param {Sizes} sizes
 * @param {number} now epoch ms
 */
export function planOf({ small, large, intervalMs }, now) {
  const to = bucketOf(now) - PACK_DELAY_MS;
  const month = { from: dayOf(to) - large.days * DAY_MS, to: dayOf(to) };
  const year = { from: to - large.longDays * DAY_MS + SPARE_MS, to };
  const latest = { from: to - small.days * DAY_MS, to };
  return {
    small: [{ seed: FLEET, sensors: small.sensors, ...latest, intervalMs }],
    large: [
      { seed: FLEET, sensors: large.sensors, from: month.from, to, intervalMs },
      { seed: LONG, sensors: 1, ...year, intervalMs },
    ],
    targets: {
      newest: { ...sensorOf(FLEET), ...latest },
      month: { ...sensorOf(FLEET), ...month },
      year: { ...sensorOf(LONG), ...year },
    },
  };
}

/** @param {number} seed */
const sensorOf = (seed) => ({ device: `load-${seed}-000000`, sensor: 'sensor-000' });

/** @typedef {ReturnType<typeof planOf>['large'][number]} Loaded */

/**
 * Loads data sets one after the other.
 *
 * @param {Config} config
 * @param {Loaded[]} list
 * @param {(text: string) => void} onStatus
 * @returns {Promise<number>} number of stored samples
 */
export async function loadAll(config, list, onStatus) {
  let stored = 0;
  for (const { seed, sensors, from, to, intervalMs } of list) {
    const { samples } = await build({
      config,
      fleet: { seed, devices: 1, sensors },
      set: { ...RECIPE, seed, intervalMs, from, to },
      into: 'history',
      onProgress: (done) => onStatus(`loading history: ${(done / 1e6).toFixed(1)} million samples`),
    });
    stored += samples;
  }
  return stored;
}

/** @typedef {ReturnType<typeof planOf>} Plan */

/**
 * Creates simulated devices that publish at a fixed rate during the reads, into one line at a time.
 *
 * @param {object} parts
 * @param {Shape} parts.shape
 * @param {number} parts.rate samples/s
 * @param {number} parts.warmMs wait after each change of the line, in ms
 */
export function createBackground({ shape, rate, warmMs }) {
  /** @type {Line | null} */
  let current = null;
  /** @type {() => Promise<void>} */
  let end = async () => {};

  async function stop() {
    current = null;
    const ending = end;
    end = async () => {};
    await ending();
  }

  return {
    /** @param {Line} line */
    async into(line) {
      if (line === current) return;
      await stop();
      end = await line.hold(shape, rate);
      current = line;
      await sleep(warmMs);
    },

    /** Settles when all samples are committed. */
    stop,
  };
}

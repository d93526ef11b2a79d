import { DAY_MS, HOUR_MS } from '../../../schema/rules.js';
import { createRandom } from '../../../simulator/random.js';
import { createDrift, rounded } from '../../../simulator/signals/parts.js';

/** A temperature in °C: the middle, what a day does to it, what ten minutes do, and what the instrument adds. */
const MIDDLE = 21;
const DAILY = 3;
const DRIFT = { memoryMs: 600_000, deviation: 0.08 };
const NOISE = 0.02;

/** Digits of a `decimals` signal behind the point. */
const DIGITS = 2;

/**
 * - `decimals`: two digits behind the point, as instruments send them
 * - `full`: whatever a double holds
 *
 * @typedef {'decimals' | 'full'} SignalKind
 */

export const SIGNALS = /** @type {const} */ (['decimals', 'full']);

/**
 * @typedef {object} Recipe
 * @property {number} seed
 * @property {SignalKind} signal
 * @property {number} intervalMs between two samples, an hour at most
 * @property {number} jitterMs a sample is off its clock's stroke by so much at most
 */

/**
 * The samples of one sensor in one hour. They depend on the arguments alone, and on no other hour: so hours can be made in
 * any order, and a part of a data set is the same as in the whole.
 *
 * @param {Recipe} recipe
 * @param {{ device: string, sensor: string }} names
 * @param {number} hour epoch ms
 * @returns {{ times: Float64Array, values: Float64Array }} times in epoch ms, strictly ascending, all within the hour
 */
export function samplesOfHour({ seed, signal, intervalMs, jitterMs }, { device, sensor }, hour) {
  const fixed = createRandom(seed, device, sensor);
  const phase = fixed.uniform();
  // Far enough from both ends that no sample leaves its interval.
  const offset = Math.floor(fixed.between(jitterMs, intervalMs - jitterMs));
  const random = createRandom(seed, device, sensor, String(hour));
  const drift = createDrift(random, intervalMs, DRIFT);
  const count = samplesPerHour(intervalMs);
  const times = new Float64Array(count);
  const values = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const stroke = hour + at * intervalMs + offset;
    times[at] = stroke + Math.floor(random.between(-jitterMs, jitterMs));
    const day = Math.sin(2 * Math.PI * (phase + (stroke % DAY_MS) / DAY_MS));
    const value = MIDDLE + DAILY * day + drift() + NOISE * random.normal();
    values[at] = signal === 'full' ? value : rounded(value, DIGITS);
  }
  return { times, values };
}

/** @param {number} intervalMs @returns {number} of one sensor */
export const samplesPerHour = (intervalMs) => Math.floor(HOUR_MS / intervalMs);

import { PROFILE_FLOATS } from '../../store/index.js';

/** Number of sensors in one block of floats. A table grows by whole blocks, so that existing floats are never copied. */
const BLOCK_SENSORS = 1024;

/** Limit of the reported number of deviations. A larger number is reported as 99, because differences beyond it mean nothing. */
export const MOST_SIGMAS = 99;

/**
 * The baselines of one day. A sensor takes 192 bytes of floats, and some 130 bytes of the index by key: 32 MB for 100,000 sensors. Around
 * midnight the baselines of two days are in memory.
 */
export class BaselineTable {
  /** @type {Map<string, number>} position of each sensor in the blocks, by key */
  #index = new Map();
  /** @type {Float32Array[]} */
  #blocks = [];

  /** Number of sensors. */
  get size() {
    return this.#index.size;
  }

  /** @param {string} key `device id/sensor id` @param {Float32Array} profile `PROFILE_FLOATS` numbers */
  set(key, profile) {
    const number = this.#index.get(key) ?? this.#index.size;
    this.#index.set(key, number);
    const blockNumber = Math.floor(number / BLOCK_SENSORS);
    const block = this.#blocks[blockNumber] ?? new Float32Array(BLOCK_SENSORS * PROFILE_FLOATS);
    this.#blocks[blockNumber] = block;
    block.set(profile, (number % BLOCK_SENSORS) * PROFILE_FLOATS);
  }

  /** @param {string} key @param {number} hour of the day @returns {{ mean: number, deviation: number } | null} */
  at(key, hour) {
    const number = this.#index.get(key);
    if (number === undefined) return null;
    const place = (number % BLOCK_SENSORS) * PROFILE_FLOATS + 2 * hour;
    const block = /** @type {Float32Array} */ (this.#blocks[Math.floor(number / BLOCK_SENSORS)]);
    const mean = Number(block[place]);
    return Number.isNaN(mean) ? null : { mean, deviation: Number(block[place + 1]) };
  }

  /** @param {string} key @param {number} hour of the day @param {number} value @returns {number | null} see `sigmasOf`; null: no baseline */
  sigmas(key, hour, value) {
    const baseline = this.at(key, hour);
    return baseline && sigmasOf(baseline, value);
  }
}

/**
 * Judges a value by a baseline.
 *
 * @param {{ mean: number, deviation: number }} baseline with single-precision floats
 * @param {number} value
 * @returns {number} number of deviations by which the value is above (negative: below) the mean, rounded to a tenth
 */
export function sigmasOf({ mean, deviation }, value) {
  // The value is rounded like the stored mean, so that a value equal to the mean has no deviation.
  const off = Math.fround(value) - mean;
  if (off === 0) return 0;
  if (deviation === 0) return Math.sign(off) * MOST_SIGMAS;
  const sigmas = Math.max(-MOST_SIGMAS, Math.min(MOST_SIGMAS, off / deviation));
  // `|| 0` replaces -0, which JSON does not have.
  return Math.round(sigmas * 10) / 10 || 0;
}

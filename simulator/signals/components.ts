/**
 * The components of a signal. Each component advances once per measurement and scales with the interval. So a signal has the same
 * character whether its sensor measures every 10 ms or every hour.
 *
 * @import { Random } from '../random.js'
 */

const DAY_MS = 86_400_000;

/**
 * Creates a cycle of one day that begins at a random phase.
 *
 * @param {Random} random
 * @param {number} intervalMs
 * @returns {() => number} returns a value from -1 to 1
 */
export function createDailyCycle(random, intervalMs) {
  const phase = random.uniform();
  let step = 0;
  return () => Math.sin(2 * Math.PI * (phase + (step++ * intervalMs) / DAY_MS));
}

/**
 * Creates noise with a memory: the exact discrete form of an Ornstein-Uhlenbeck process, AR(1).
 *
 * @param {Random} random
 * @param {number} intervalMs
 * @param {{ memoryMs: number, deviation: number }} shape time constant of the memory, and standard deviation
 * @returns {() => number} returns a value around 0
 */
export function createDrift(random, intervalMs, { memoryMs, deviation }) {
  const kept = Math.exp(-intervalMs / memoryMs);
  const fresh = deviation * Math.sqrt(1 - kept * kept);
  let value = deviation * random.normal();
  return () => {
    value = kept * value + fresh * random.normal();
    return value;
  };
}

/**
 * Creates occasional events, such as a run or a fever. An event rises, lasts, and fades.
 *
 * @param {Random} random
 * @param {number} intervalMs
 * @param {{ everyMs: number, lastsMs: number, riseMs: number }} shape mean time between two events, mean duration, time constant
 *   of the rise
 * @returns {() => number} returns a value from 0 (no event) to 1 (full height)
 */
export function createEpisodes(random, intervalMs, { everyMs, lastsMs, riseMs }) {
  const chance = 1 - Math.exp(-intervalMs / everyMs);
  const approach = 1 - Math.exp(-intervalMs / riseMs);
  let leftMs = 0;
  let level = 0;
  return () => {
    const begins = random.uniform() < chance;
    if (leftMs > 0) leftMs -= intervalMs;
    else if (begins) leftMs = lastsMs * random.between(0.5, 1.5);
    level += ((leftMs > 0 ? 1 : 0) - level) * approach;
    return level;
  };
}

/** @param {number} value @param {number} low @param {number} high */
export const within = (value, low, high) => Math.min(high, Math.max(low, value));

/** @param {number} value @param {number} decimals number of decimals that the instrument would show */
export const rounded = (value, decimals) => Math.round(value * 10 ** decimals) / 10 ** decimals;

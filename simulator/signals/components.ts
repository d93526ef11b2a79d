import type { Random } from '../random.ts';

/**
 * Each component advances once per measurement and scales with the interval. So a signal has the same character whether its sensor measures
 * every 10 ms or every hour.
 */

const DAY_MS = 86_400_000;

/** From -1 to 1. The cycle begins at a random phase. */
export function createDailyCycle(random: Random, intervalMs: number): () => number {
  const phase = random.uniform();
  let step = 0;
  return () => Math.sin(2 * Math.PI * (phase + (step++ * intervalMs) / DAY_MS));
}

/**
 * Noise with a memory: the exact discrete form of an Ornstein-Uhlenbeck process, AR(1).
 * @param shape time constant of the memory, and standard deviation
 * @returns returns a value around 0
 */
export function createDrift(
  random: Random,
  intervalMs: number,
  { memoryMs, deviation }: { memoryMs: number; deviation: number },
): () => number {
  const kept = Math.exp(-intervalMs / memoryMs);
  const fresh = deviation * Math.sqrt(1 - kept * kept);
  let value = deviation * random.normal();
  return () => {
    value = kept * value + fresh * random.normal();
    return value;
  };
}

/**
 * Occasional events, such as a run or a fever. An event rises, lasts, and fades.
 * @param shape mean time between two events, mean duration, time constant of the rise
 * @returns returns a value from 0 (no event) to 1 (full height)
 */
export function createEpisodes(
  random: Random,
  intervalMs: number,
  { everyMs, lastsMs, riseMs }: { everyMs: number; lastsMs: number; riseMs: number },
): () => number {
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

export const within = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));

/** @param decimals as the instrument would show */
export const rounded = (value: number, decimals: number) =>
  Math.round(value * 10 ** decimals) / 10 ** decimals;

import { useEffect } from 'preact/hooks';
import type { Services } from '../../state/hooks.ts';
import { useKept, useServices } from '../../state/hooks.ts';
import type { KeptTexts } from '../../state/preferences.ts';
import { membersOf, recall, remember } from '../../state/preferences.ts';
import type { Scale } from '../../units.ts';
import { toShown } from '../../units.ts';
import { readNumber } from '../shared/limits.ts';

/** The thresholds that a user sets. Values below `low` or above `high` are over a threshold. */
export type Thresholds = { low: number | null; high: number | null };

export const NO_THRESHOLDS: Thresholds = { low: null, high: null };

export const readThresholds = (query: URLSearchParams): Thresholds => ({
  low: readNumber(query.get('low')),
  high: readNumber(query.get('high')),
});

/** Converts thresholds in the same way as values, so that a value equal to a threshold is not over the threshold. */
export const thresholdsIn = ({ low, high }: Thresholds, scale: Scale): Thresholds => ({
  low: low === null ? null : toShown(scale, low),
  high: high === null ? null : toShown(scale, high),
});

/** @returns parameters of the address for the thresholds */
export const writeThresholds = ({ low, high }: Thresholds): Record<'low' | 'high', string | null> => ({
  low: low?.toString() ?? null,
  high: high?.toString() ?? null,
});

/** @returns the thresholds, or the reason why the input is invalid */
export function parseThresholds({ low, high }: { low: string; high: string }): Thresholds | string {
  const read = { low: readNumber(low), high: readNumber(high) };
  if (low.trim() && read.low === null) return 'Low is not a number.';
  if (high.trim() && read.high === null) return 'High is not a number.';
  if (read.low !== null && read.high !== null && read.low >= read.high) return 'Low has to be below high.';
  return read;
}

/** Finds the side on which a value, or a range of values, is over a threshold. */
export function thresholdSideOf(
  min: number,
  max: number,
  { low, high }: Thresholds,
): 'low' | 'high' | 'both' | null {
  const isLow = low !== null && min < low;
  const isHigh = high !== null && max > high;
  if (isLow && isHigh) return 'both';
  return isLow ? 'low' : isHigh ? 'high' : null;
}

/**
 * @param shape lowest and highest value of each sample or bin
 * @returns number of samples over a threshold, or of bins with such a sample
 */
export function countOverThreshold(
  { min, max }: { min: number[]; max: number[] },
  { low, high }: Thresholds,
): { low: number; high: number } {
  return {
    low: low === null ? 0 : min.filter((value) => value < low).length,
    high: high === null ? 0 : max.filter((value) => value > high).length,
  };
}

/** Limit for the distance of a threshold from the values, as a multiple of their spread. A farther threshold does not extend the scale. */
const MOST_SPREADS_AWAY = 3;

/** Extends a value range to the thresholds that are near enough. */
export function withThresholds(
  min: number,
  max: number,
  { low, high }: Thresholds,
): [min: number, max: number] {
  const spread = max - min || Math.max(Math.abs(max), 1);
  const near = [low, high].filter(
    (line) =>
      line !== null && line > min - MOST_SPREADS_AWAY * spread && line < max + MOST_SPREADS_AWAY * spread,
  );
  const lines = near as number[];
  return [Math.min(min, ...lines), Math.max(max, ...lines)];
}

const THRESHOLDS_KEY = 'millrace.thresholds';
/** Maximum number of sensors with stored thresholds. Above the limit, the thresholds that were set longest ago are removed first. */
const SENSORS_KEPT = 500;

/** Creates the store of the thresholds that a user set, by sensor, in this browser. */
export function createThresholdMemory(storage: KeptTexts) {
  /** @returns the stored thresholds, including thresholds that another tab stored meanwhile */
  function read(): Map<string, Thresholds> {
    const kept = recall(storage, THRESHOLDS_KEY);
    return new Map(Array.isArray(kept) ? kept.filter(isEntry) : []);
  }

  return {
    recall: (sensor: string): Thresholds | null => read().get(sensor) ?? null,

    /** @param sensor key of the sensor @param thresholds if both thresholds are null, the entry is removed */
    remember(sensor: string, thresholds: Thresholds) {
      const kept = read();
      kept.delete(sensor);
      if (thresholds.low !== null || thresholds.high !== null) kept.set(sensor, thresholds);
      remember(storage, THRESHOLDS_KEY, [...kept].slice(-SENSORS_KEPT));
    },
  };
}

const createMemory = ({ storage }: Services) => createThresholdMemory(storage.browser);

function isEntry(entry: unknown): entry is [string, Thresholds] {
  const isLine = (line: unknown) => line === null || Number.isFinite(line);
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') return false;
  const { low, high } = membersOf(entry[1]);
  return isLine(low) && isLine(high);
}

/**
 * Returns the thresholds of the chart of a sensor. The address holds the thresholds, so that users can share them. An address
 * without thresholds gets the last thresholds of the sensor.
 *
 * @param key key of the sensor; empty: the sensor is unknown yet
 */
export function useThresholds(key: string) {
  const { router } = useServices();
  const memory = useKept(createMemory);
  const { query } = router.place.value;
  const isInAddress = query.has('low') || query.has('high');

  useEffect(() => {
    const known = key && !isInAddress ? memory.recall(key) : null;
    if (known) router.changeQuery(writeThresholds(known), { replace: true });
  }, [router, memory, key, isInAddress]);

  return {
    thresholds: readThresholds(query),
    change(next: Thresholds) {
      memory.remember(key, next);
      router.changeQuery(writeThresholds(next), { replace: true });
    },
  };
}

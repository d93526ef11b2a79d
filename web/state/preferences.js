import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { unitsOf } from '../units.js';
import { useServices } from './hooks.js';

/** @import { Quantity, UnitChoices } from '../units.js' */

const PREFERENCES_KEY = 'millrace.preferences';
/** @type {Quantity[]} */
const QUANTITIES = ['temperature', 'pressure', 'speed', 'energy'];

/**
 * @typedef {'auto' | 'light' | 'dark'} Theme
 * @typedef {'local' | 'utc'} Zone
 * @typedef {{ theme: Theme, zone: Zone, units: UnitChoices }} Choice
 */

/**
 * The choices of a reader, stored in this browser.
 *
 * @param {{ storage: Storage, root: HTMLElement }} deps
 */
export function createPreferences({ storage, root }) {
  const choice = signal(read(storage));

  return {
    choice,
    /** @param {Partial<Choice>} changes */
    change(changes) {
      const next = { ...choice.peek(), ...changes };
      if (next.theme === 'auto') delete root.dataset['theme'];
      else root.dataset['theme'] = next.theme;
      remember(storage, PREFERENCES_KEY, next);
      choice.value = next;
    },
  };
}

/** @typedef {ReturnType<typeof createPreferences>} Preferences */

/** @param {Storage} storage @returns {Choice} */
function read(storage) {
  /** @type {Partial<Choice>} */
  const kept = recall(storage, PREFERENCES_KEY) ?? {};
  return {
    theme: kept.theme === 'light' || kept.theme === 'dark' ? kept.theme : 'auto',
    zone: kept.zone === 'utc' ? 'utc' : 'local',
    units: readUnits(kept.units),
  };
}

/** @param {UnitChoices | undefined} kept @returns {UnitChoices} those that exist */
function readUnits(kept) {
  /** @type {UnitChoices} */
  const units = {};
  for (const quantity of QUANTITIES) {
    const unit = kept?.[quantity];
    if (unit !== undefined && unitsOf(quantity).includes(unit)) units[quantity] = unit;
  }
  return units;
}

/**
 * What this browser keeps between two visits.
 *
 * @param {Storage} storage
 * @param {string} key
 * @returns {any} null: nothing is kept, the storage is forbidden, or it holds something else
 */
export function recall(storage, key) {
  try {
    return JSON.parse(storage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

/**
 * Keeps a value for the next visit. If the storage is forbidden or full, the value holds until this page is closed.
 *
 * @param {Storage} storage
 * @param {string} key
 * @param {unknown} value
 */
export function remember(storage, key, value) {
  try {
    storage.setItem(key, JSON.stringify(value));
  } catch {
    // Nobody can do anything about it.
  }
}

/**
 * Lines that a reader draws: values below `low` or above `high` are over the threshold.
 *
 * @typedef {{ low: number | null, high: number | null }} Thresholds
 */

/** @type {Thresholds} */
export const NO_THRESHOLDS = { low: null, high: null };

/** @param {string | null} text as people write numbers, `-4,5` too @returns {number | null} null: none */
function readNumber(text) {
  const plain = (text ?? '')
    .trim()
    .replace('\u2212', '-')
    .replace(/^([^.,]*),([^.,]*)$/, '$1.$2');
  const number = plain === '' ? Number.NaN : Number(plain);
  return Number.isFinite(number) ? number : null;
}

/** @param {URLSearchParams} query @returns {Thresholds} */
export const readThresholds = (query) => ({
  low: readNumber(query.get('low')),
  high: readNumber(query.get('high')),
});

/** @param {Thresholds} thresholds @returns {Record<'low' | 'high', string | null>} their part of the address */
export const writeThresholds = ({ low, high }) => ({
  low: low?.toString() ?? null,
  high: high?.toString() ?? null,
});

/**
 * @param {{ low: string, high: string }} typed
 * @returns {Thresholds | string} what is wrong with it
 */
export function parseThresholds({ low, high }) {
  const read = { low: readNumber(low), high: readNumber(high) };
  if (low.trim() && read.low === null) return 'Low is not a number.';
  if (high.trim() && read.high === null) return 'High is not a number.';
  if (read.low !== null && read.high !== null && read.low >= read.high) return 'Low has to be below high.';
  return read;
}

/**
 * The side on which a value, or a range of values, is over a threshold.
 *
 * @param {number} min
 * @param {number} max
 * @param {Thresholds} thresholds
 * @returns {'low' | 'high' | 'both' | null}
 */
export function thresholdSideOf(min, max, { low, high }) {
  const isLow = low !== null && min < low;
  const isHigh = high !== null && max > high;
  if (isLow && isHigh) return 'both';
  return isLow ? 'low' : isHigh ? 'high' : null;
}

/** A line further away than so many times the spread of the values would leave them no room. */
const FARTHEST = 3;

/**
 * @param {{ min: number[], max: number[] }} shape lowest and highest of each sample or bin
 * @param {Thresholds} thresholds
 * @returns {{ low: number, high: number }} samples over a threshold, or bins with such a sample
 */
export function countOverThreshold({ min, max }, { low, high }) {
  return {
    low: low === null ? 0 : min.filter((value) => value < low).length,
    high: high === null ? 0 : max.filter((value) => value > high).length,
  };
}

/**
 * The scale of the values, with the lines that lie near enough to be shown.
 *
 * @param {number} min
 * @param {number} max
 * @param {Thresholds} thresholds
 * @returns {[min: number, max: number]}
 */
export function withThresholds(min, max, { low, high }) {
  const spread = max - min || Math.max(Math.abs(max), 1);
  const near = [low, high].filter(
    (line) => line !== null && line > min - FARTHEST * spread && line < max + FARTHEST * spread,
  );
  const lines = /** @type {number[]} */ (near);
  return [Math.min(min, ...lines), Math.max(max, ...lines)];
}

const THRESHOLDS_KEY = 'millrace.thresholds';
/** Sensors; those whose lines were drawn longest ago are forgotten first. */
const SENSORS_KEPT = 500;

/**
 * The lines that a reader drew, by sensor, remembered in this browser.
 *
 * @param {{ storage: Storage }} deps
 */
export function createThresholdMemory({ storage }) {
  /** @returns {Map<string, Thresholds>} what another tab drew meanwhile is there, too */
  function read() {
    const kept = recall(storage, THRESHOLDS_KEY);
    return new Map(Array.isArray(kept) ? kept.filter(isEntry) : []);
  }

  return {
    /** @param {string} sensor key @returns {Thresholds | null} */
    recall: (sensor) => read().get(sensor) ?? null,

    /** @param {string} sensor key @param {Thresholds} thresholds none at all: forgotten */
    remember(sensor, thresholds) {
      const kept = read();
      kept.delete(sensor);
      if (thresholds.low !== null || thresholds.high !== null) kept.set(sensor, thresholds);
      remember(storage, THRESHOLDS_KEY, [...kept].slice(-SENSORS_KEPT));
    },
  };
}

/** @typedef {ReturnType<typeof createThresholdMemory>} ThresholdMemory */

/** @param {any} entry */
function isEntry(entry) {
  const isLine = (/** @type {unknown} */ line) => line === null || Number.isFinite(line);
  return (
    Array.isArray(entry) && typeof entry[0] === 'string' && isLine(entry[1]?.low) && isLine(entry[1]?.high)
  );
}

/**
 * The lines drawn into the chart of a sensor. They stand in the address, so that they can be shared; an address without lines gets the last
 * ones of this sensor.
 *
 * @param {string} key of the sensor; empty: not known yet
 */
export function useThresholds(key) {
  const { router, thresholds: memory } = useServices();
  const { query } = router.place.value;
  const isSaid = query.has('low') || query.has('high');

  useEffect(() => {
    const known = key && !isSaid ? memory.recall(key) : null;
    if (known) router.changeQuery(writeThresholds(known), { replace: true });
  }, [router, memory, key, isSaid]);

  return {
    thresholds: readThresholds(query),
    /** @param {Thresholds} next */
    change(next) {
      memory.remember(key, next);
      router.changeQuery(writeThresholds(next), { replace: true });
    },
  };
}

import { useEffect, useState } from 'preact/hooks';
import { createBaseline, isLearning, learn, levelOf, scoreOf, spreadOf } from './baseline.js';
import { NORMAL } from './cell-state.js';
import { useServices } from './hooks.js';
import { keyOf } from './live.js';

/** @import { LatestItem } from '../api/types.js' */
/** @import { Baseline } from './baseline.js' */

/**
 * @typedef {{ ts: number, value: number }} Sample `ts` in epoch ms
 *
 * @typedef {object} Deviation of a sensor's newest value
 * @property {number} mean what is usual for it
 * @property {number} spread around that, in the same unit
 * @property {number} off how far the value is above or (negative) below the mean
 * @property {number} cellState of its cell on the wall
 */

/**
 * Judges the values of one sensor as the wall does, where there is no wall.
 *
 * @param {object} [known]
 * @param {Baseline} [known.baseline] what was learned before; it is not changed
 * @param {number} [known.typical] spread of all sensors of its type; 0: not known
 * @param {number} [known.score] of the newest value that was learned
 * @param {number} [known.value] that one
 */
export function createDeviationTracker({
  baseline: learned = createBaseline(),
  typical = 0,
  score = 0,
  value = 0,
} = {}) {
  const baseline = { ...learned };
  let deviation = isLearning(baseline) ? null : assess(value, score);

  /** @param {number} newest @param {number} newestScore @returns {Deviation} */
  function assess(newest, newestScore) {
    const { mean } = baseline;
    const spread = spreadOf(baseline, typical);
    return { mean, spread, off: newest - mean, cellState: NORMAL + levelOf(newestScore) };
  }

  return {
    /**
     * Takes in what is newer than all before. A value is judged by what was usual before it.
     *
     * @param {readonly Sample[]} samples oldest first
     * @returns {Deviation | null} of the newest; null: too few were seen
     */
    take(samples) {
      for (const sample of samples) {
        if (sample.ts <= baseline.at) continue;
        deviation = isLearning(baseline)
          ? null
          : assess(sample.value, scoreOf(baseline, sample.value, typical));
        learn(baseline, sample.ts, sample.value, typical);
      }
      return deviation;
    },
  };
}

/** @typedef {ReturnType<typeof createDeviationTracker>} DeviationTracker */

/** Values before the newest, from which one learns what is usual: fewer where the sensor measures seldom. */
const VALUES = 500;
/** Older values are not used, in ms. */
const LATELY_MS = 86_400_000;
/** The wall learns while it is looked at: what it missed since then makes what it knows old, in ms. */
const OLD_MS = 60_000;

/**
 * How far off a sensor's newest value is, by what the wall has learned of it; where that is nothing, by what it measured before.
 *
 * @param {LatestItem} item
 * @param {Sample[]} recent newest values, oldest first
 * @returns {Deviation | null} null: not known, or not yet
 */
export function useDeviation(item, recent) {
  const { client, live } = useServices();
  const [tracker, setTracker] = useState(/** @type {DeviationTracker | null} */ (null));
  const key = keyOf(item);
  const isSilent = item.ts === null;

  useEffect(() => {
    setTracker(null);
    if (isSilent) return undefined;
    const newest = Date.parse(item.ts ?? '');
    const onWall = live.fleet.sensors.get(key);
    const typical = live.fleet.typical(item.type);
    if (onWall && !isLearning(onWall.baseline) && newest - onWall.at < OLD_MS) {
      setTracker(createDeviationTracker({ ...onWall, typical }));
      return undefined;
    }
    const abort = new AbortController();
    const query = { limit: VALUES, from: newest - LATELY_MS, to: newest + 1 };
    client
      .measurements(item.device_id, item.sensor_id, query, abort.signal)
      .then(({ items }) => {
        const begun = createDeviationTracker({ typical });
        begun.take(items.map(({ ts, value }) => ({ ts: Date.parse(ts), value })).reverse());
        setTracker(begun);
      })
      // The chart shows the problem. Without earlier values, the tracker learns from new ones.
      .catch(() => !abort.signal.aborted && setTracker(createDeviationTracker({ typical })));
    return () => abort.abort();
  }, [client, live, key, isSilent]);

  return tracker?.take(recent) ?? null;
}

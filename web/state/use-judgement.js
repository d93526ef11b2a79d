import { useEffect, useState } from 'preact/hooks';
import { isLearning } from './baseline.js';
import { createJudge } from './deviation.js';
import { useParts } from './hooks.js';
import { keyOf } from './live.js';

/** @import { LatestItem } from '../api/types.js' */
/** @import { Judge, Judgement, Sample } from './deviation.js' */

/** Values before the newest, from which one learns what is usual: fewer where the sensor measures seldom. */
const VALUES = 500;
/** What was earlier says nothing of today, in ms. */
const LATELY_MS = 86_400_000;
/** The wall learns while it is looked at: what it missed since then makes what it knows old, in ms. */
const OLD_MS = 60_000;

/**
 * How far off a sensor's newest value is, by what the wall has learned of it; where that is nothing, by what it measured before.
 *
 * @param {LatestItem} item
 * @param {Sample[]} recent newest values, oldest first
 * @returns {Judgement | null} null: not known, or not yet
 */
export function useJudgement(item, recent) {
  const { client, live } = useParts();
  const [judge, setJudge] = useState(/** @type {Judge | null} */ (null));
  const key = keyOf(item);
  const isSilent = item.ts === null;

  useEffect(() => {
    setJudge(null);
    if (isSilent) return undefined;
    const newest = Date.parse(item.ts ?? '');
    const onWall = live.fleet.sensors.get(key);
    const typical = live.fleet.typical(item.type);
    if (onWall && !isLearning(onWall.range) && newest - onWall.at < OLD_MS) {
      setJudge(createJudge({ ...onWall, typical }));
      return undefined;
    }
    const abort = new AbortController();
    const query = { limit: VALUES, from: newest - LATELY_MS, to: newest + 1 };
    client
      .measurements(item.device_id, item.sensor_id, query, abort.signal)
      .then(({ items }) => {
        const begun = createJudge({ typical });
        begun.take(items.map(({ ts, value }) => ({ ts: Date.parse(ts), value })).reverse());
        setJudge(begun);
      })
      // The chart says what is wrong; without what was before, one learns from what comes.
      .catch(() => !abort.signal.aborted && setJudge(createJudge({ typical })));
    return () => abort.abort();
  }, [client, live, key, isSilent]);

  return judge?.take(recent) ?? null;
}

import { useEffect } from 'preact/hooks';
import { useObservable, useParts } from './hooks.js';
import { readThresholds, writeThresholds } from './thresholds.js';

/** @import { Thresholds } from './thresholds.js' */

/**
 * The lines drawn into the chart of a sensor. They stand in the address, so that they can be shared; where it says none, those that
 * were last drawn for this sensor are put there.
 *
 * @param {string} key of the sensor; empty: not known yet
 */
export function useThresholds(key) {
  const { router, thresholds: memory } = useParts();
  const { query } = useObservable(router.place);
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

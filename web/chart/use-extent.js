import { useParts } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { useQuery } from '../state/use-query.js';
import { createReader, pointsFor } from './reader.js';

/** @import { Shape } from './shape.js' */

/** Bins of the overview: a strip as wide as the page, a bin to a few pixels. */
const POINTS = 400;
const ENOUGH_POINTS = 60;
/** Each look is closer than the one before; a year comes down to its last minutes in three. */
const MOST_LOOKS = 4;
const REFRESH = { refreshMs: 60_000 };

/**
 * All that there is of a sensor, roughly: from its first sample that is kept until now.
 *
 * @param {{ device_id: string, sensor_id: string } | null} sensor null: not known yet
 * @returns {Shape | null} null: not known yet, or nothing
 */
export function useExtent(sensor) {
  const { client, clock } = useParts();
  const { data } = useQuery(
    sensor ? keyOf(sensor) : '',
    async (signal) => {
      if (!sensor) return null;
      const reader = createReader(client, sensor);
      const to = clock.now();
      let bins = await reader.bins({ from: 0, to }, POINTS, signal);
      for (let look = 1; look < MOST_LOOKS; look += 1) {
        const { ts, stepMs } = bins;
        const from = ts[0] ?? to;
        if (ts.length >= ENOUGH_POINTS || from >= to) break;
        bins = await reader.bins({ from, to }, pointsFor(to - from, POINTS, null), signal);
        if (bins.stepMs === stepMs) break;
      }
      return bins.ts.length > 0 ? { ...bins, from: bins.ts[0] ?? 0 } : null;
    },
    REFRESH,
  );
  return data;
}

import { rounded, within } from './components.ts';
import type { Signal } from './index.ts';

const FARTHEST_M = 2500;
const GRAZES_MS = 600_000;

/** The distance from home. The animal grazes at one place for some minutes, then walks to the next place or back home. */
export const location = {
  type: 'location',
  unit: 'm',
  range: [0, FARTHEST_M],
  create(random, intervalMs) {
    const leaves = 1 - Math.exp(-intervalMs / GRAZES_MS);
    const nextSpot = () => (random.uniform() < 0.2 ? random.between(0, 20) : random.between(50, 1500));
    let spot = nextSpot();
    let distance = spot;
    let stride = 0;
    return () => {
      if (random.uniform() < leaves) {
        spot = nextSpot();
        // A cow walks at 0.6 to 1.4 m/s.
        stride = (random.between(0.6, 1.4) * intervalMs) / 1000;
      }
      distance += within(spot - distance, -stride, stride);
      // A good satellite fix is accurate within about a meter.
      return rounded(within(distance + 0.8 * random.normal(), 0, FARTHEST_M), 1);
    };
  },
} satisfies Signal;

/** The thresholds of a sensor: lines in its chart, and a form that sets them. */
import type { Feature } from '../../feature.ts';

export const thresholdsFeature: Feature = {
  name: 'thresholds',
  details: () => import('./line.tsx'),
};

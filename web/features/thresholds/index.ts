import type { Feature } from '../../feature.ts';

export const thresholdsFeature: Feature = {
  name: 'thresholds',
  details: () => import('./line.tsx'),
};

/** Saves what a chart shows, and the samples of a sensor, as files. */
import type { Feature } from '../../feature.ts';

export const exportFeature: Feature = {
  name: 'export',
  details: () => import('./buttons.tsx'),
};

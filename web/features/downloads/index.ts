import type { Feature } from '../../feature.ts';

export const downloadsFeature: Feature = {
  name: 'downloads',
  details: () => import('./buttons.tsx'),
};

import type { Feature } from '../../feature.ts';

export const exportFeature: Feature = {
  name: 'export',
  details: () => import('./buttons.tsx'),
};

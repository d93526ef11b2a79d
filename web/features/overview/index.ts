import type { Feature } from '../../feature.ts';

export const overviewFeature: Feature = { name: 'overview', details: () => import('./strip.tsx') };

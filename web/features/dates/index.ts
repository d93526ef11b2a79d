import type { Feature } from '../../feature.ts';

export const datesFeature: Feature = { name: 'dates', details: () => import('./range-form.tsx') };

/** The values of a chart as a table, with their statistics. */
import type { Feature } from '../../feature.ts';

export const valuesFeature: Feature = { name: 'values', details: () => import('./panel.tsx') };

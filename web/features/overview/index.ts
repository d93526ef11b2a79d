/** All that is stored of a sensor as a strip below its chart, in which users choose the window. */
import type { Feature } from '../../feature.ts';

export const overviewFeature: Feature = { name: 'overview', details: () => import('./strip.tsx') };

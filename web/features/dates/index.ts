/** The form in which users type the start and the end of a range. */
import type { Feature } from '../../feature.ts';

export const datesFeature: Feature = { name: 'dates', details: () => import('./range-form.tsx') };

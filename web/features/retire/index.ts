/** The button that retires a device. */
import type { Feature } from '../../feature.ts';

export const retireFeature: Feature = { name: 'retire', details: () => import('./button.tsx') };

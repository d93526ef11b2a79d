/** Texts about instants, on charts of a device. */
import type { Feature } from '../../feature.ts';

export const annotationsFeature: Feature = {
  name: 'annotations',
  details: () => import('./panel.tsx'),
};

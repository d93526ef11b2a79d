/** Pages of assets: a tree of sites, lines and machines over devices and sensors. */
import type { Feature } from '../../feature.ts';
import { WallSlot } from './wall-slot.tsx';

export const assetsFeature: Feature = {
  name: 'assets',
  page: {
    label: 'Assets',
    words: 'sites areas lines cells machines plant tree hierarchy',
    place: 'navigation',
    load: () => import('./assets.tsx').then(({ AssetsView }) => AssetsView),
    hasDetails: true,
  },
  slots: { wallPlaces: WallSlot },
  details: () => import('./panel.tsx'),
};

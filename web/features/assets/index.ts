/** Pages of assets: a tree of sites, lines and machines over devices and sensors. */
import type { Feature } from '../../feature.ts';

export const assetsFeature: Feature = {
  name: 'assets',
  page: {
    label: 'Assets',
    words: 'sites areas lines cells machines plant tree hierarchy',
    place: 'navigation',
    load: () => import('./assets.tsx').then(({ AssetsView }) => AssetsView),
    hasDetails: true,
  },
  details: () => import('./panel.tsx'),
};

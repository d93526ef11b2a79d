/** A page with the charts of chosen sensors on one time axis. */
import type { Feature } from '../../feature.ts';
import { CompareButton, CompareLink } from './button.tsx';

export const compareFeature: Feature = {
  name: 'compare',
  page: {
    label: 'Compare',
    words: 'chart',
    place: 'navigation',
    load: () => import('./compare.tsx').then(({ CompareView }) => CompareView),
    hasDetails: true,
    Link: CompareLink,
  },
  sensorAction: { label: 'Compare', Button: CompareButton },
};

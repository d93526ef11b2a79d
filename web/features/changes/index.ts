/** A page with the changes of many sensors in a range of time. */
import type { Feature } from '../../feature.ts';

export const changesFeature: Feature = {
  name: 'changes',
  page: {
    label: 'Changes',
    words: 'what changed history events',
    place: 'lists',
    load: () => import('./changes.tsx').then(({ ChangesView }) => ChangesView),
  },
};

/** Stored samples are replaced or removed: the log with undo, marks in charts, and dialogs on pages of devices and sensors. */
import type { Feature } from '../../feature.ts';
import { CORRECTION_EVENT } from './event.ts';

export const correctionsFeature: Feature = {
  name: 'corrections',
  events: [CORRECTION_EVENT],
  page: {
    label: 'Corrections',
    words: 'correct replace remove delete undo samples values',
    place: 'lists',
    load: () => import('./corrections.tsx').then(({ CorrectionsView }) => CorrectionsView),
  },
  details: () => import('./panel.tsx'),
};

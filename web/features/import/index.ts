/** A page that stores measurements from files. */
import type { Feature } from '../../feature.ts';
import { ImportButton, ImportHint } from './links.tsx';

export const importFeature: Feature = {
  name: 'import',
  page: {
    label: 'Import',
    words: 'upload csv ndjson parquet excel file',
    place: 'navigation',
    scope: 'ingest',
    load: () => import('./import.tsx').then(({ ImportView }) => ImportView),
  },
  slots: { listAction: ImportButton, emptyFleet: ImportHint },
};

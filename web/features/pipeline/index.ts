/** Judges the processes, the broker and the database. It has a page, and key figures above the wall. */
import type { Feature } from '../../feature.ts';
import { LevelBadge } from './badge.tsx';
import { PipelineFigures } from './figures.tsx';
import { verdictOf } from './verdict.ts';

export const pipelineFeature: Feature = {
  name: 'pipeline',
  page: {
    label: 'Pipeline',
    words: 'status health database broker processes',
    place: 'navigation',
    load: () => import('./pipeline.tsx').then(({ PipelineView }) => PipelineView),
    Badge: LevelBadge,
  },
  slots: { fleetFigures: PipelineFigures },
  diagnosis: { verdictOf, link: 'See the pipeline' },
};

import type { Feature } from '../feature.ts';
import { alarmsFeature } from './alarms/index.ts';
import { annotationsFeature } from './annotations/index.ts';
import { assetsFeature } from './assets/index.ts';
import { baselinesFeature } from './baselines/index.ts';
import { changesFeature } from './changes/index.ts';
import { compareFeature } from './compare/index.ts';
import { correctionsFeature } from './corrections/index.ts';
import { credentialsFeature } from './credentials/index.ts';
import { datesFeature } from './dates/index.ts';
import { deadLettersFeature } from './dead-letters/index.ts';
import { displayFeature } from './display/index.ts';
import { eventsFeature } from './events/index.ts';
import { exportFeature } from './export/index.ts';
import { firstStepsFeature } from './first-steps/index.ts';
import { importFeature } from './import/index.ts';
import { overviewFeature } from './overview/index.ts';
import { pipelineFeature } from './pipeline/index.ts';
import { retireFeature } from './retire/index.ts';
import { searchFeature } from './search/index.ts';
import { standsOutFeature } from './stands-out/index.ts';
import { thresholdsFeature } from './thresholds/index.ts';
import { valuesFeature } from './values/index.ts';
import { wallFeature } from './wall/index.ts';

/** A line switches its feature on. Links and marks stand in this order. */
export const FEATURES: Feature[] = [
  pipelineFeature,
  assetsFeature,
  alarmsFeature,
  deadLettersFeature,
  compareFeature,
  firstStepsFeature,
  importFeature,
  credentialsFeature,
  changesFeature,
  correctionsFeature,
  annotationsFeature,
  baselinesFeature,
  datesFeature,
  eventsFeature,
  exportFeature,
  overviewFeature,
  retireFeature,
  searchFeature,
  displayFeature,
  standsOutFeature,
  thresholdsFeature,
  valuesFeature,
  wallFeature,
];

import type { Feature } from '../feature.ts';
import { alarmsFeature } from './alarms/index.ts';
import { annotationsFeature } from './annotations/index.ts';
import { baselinesFeature } from './baselines/index.ts';
import { changesFeature } from './changes/index.ts';
import { compareFeature } from './compare/index.ts';
import { credentialsFeature } from './credentials/index.ts';
import { deadLettersFeature } from './dead-letters/index.ts';
import { exportFeature } from './export/index.ts';
import { firstStepsFeature } from './first-steps/index.ts';
import { importFeature } from './import/index.ts';
import { retireFeature } from './retire/index.ts';
import { searchFeature } from './search/index.ts';
import { thresholdsFeature } from './thresholds/index.ts';

/** A line switches its feature on. Links and marks stand in this order. */
export const FEATURES: Feature[] = [
  alarmsFeature,
  deadLettersFeature,
  compareFeature,
  firstStepsFeature,
  importFeature,
  credentialsFeature,
  changesFeature,
  annotationsFeature,
  baselinesFeature,
  exportFeature,
  retireFeature,
  searchFeature,
  thresholdsFeature,
];

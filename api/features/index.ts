import type { Feature } from '../feature.ts';
import type { Contract } from '../http/contract/openapi.ts';
import { CORE_CONTRACT } from '../http/index.ts';
import type { Route } from '../http/route.ts';
import { annotationsFeature } from './annotations/index.ts';
import { exportFeature } from './export/index.ts';
import { importFeature } from './import/index.ts';
import { lineProtocolFeature } from './line-protocol/index.ts';
import { prometheusFeature } from './prometheus/index.ts';
import { queryFeature } from './query/index.ts';

/** A feature is switched off by the removal of its line. */
export const FEATURES: Feature[] = [
  annotationsFeature,
  exportFeature,
  importFeature,
  lineProtocolFeature,
  prometheusFeature,
  queryFeature,
];

export const CONTRACTS: Contract[] = [CORE_CONTRACT, ...FEATURES];

export const ROUTES: Route[] = CONTRACTS.flatMap(({ routes = [] }) => routes);

import type { Feature } from '../feature.ts';
import type { Contract } from '../http/contract/openapi.ts';
import { CORE_CONTRACT } from '../http/index.ts';
import type { Route } from '../http/route.ts';
import { annotations } from './annotations/index.ts';
import { baselines } from './baselines/index.ts';
import { changes } from './changes/index.ts';
import { deadLetters } from './dead-letters/index.ts';
import { exports } from './export/index.ts';
import { imports } from './import/index.ts';
import { kafka } from './kafka/index.ts';
import { lineProtocol } from './line-protocol/index.ts';
import { parquet } from './parquet/index.ts';
import { prometheus } from './prometheus/index.ts';
import { query } from './query/index.ts';

/** A line switches its feature on. */
export const FEATURES: Feature[] = [
  annotations,
  baselines,
  changes,
  deadLetters,
  exports,
  imports,
  kafka,
  lineProtocol,
  parquet,
  prometheus,
  query,
];

/** Of the core and of all features. */
export const CONTRACTS: Contract[] = [CORE_CONTRACT, ...FEATURES];

export const ROUTES: Route[] = CONTRACTS.flatMap(({ routes = [] }) => routes);

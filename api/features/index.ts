import type { Feature } from '../feature.ts';
import type { Contract } from '../http/contract/openapi.ts';
import { CORE_CONTRACT } from '../http/index.ts';
import type { Route } from '../http/route.ts';
import type { OpenTopics } from '../ingest/topics.ts';
import { annotationsFeature } from './annotations/index.ts';
import { baselinesFeature } from './baselines/index.ts';
import { changesFeature } from './changes/index.ts';
import { deadLettersFeature } from './dead-letters/index.ts';
import { exportFeature } from './export/index.ts';
import { homeAssistantFeature } from './home-assistant/index.ts';
import { importFeature } from './import/index.ts';
import { kafkaFeature } from './kafka/index.ts';
import { lineProtocolFeature } from './line-protocol/index.ts';
import { mappingsFeature } from './mappings/index.ts';
import { parquetFeature } from './parquet/index.ts';
import { prometheusFeature } from './prometheus/index.ts';
import { queryFeature } from './query/index.ts';
import { sparkplugFeature } from './sparkplug/index.ts';

/** A line switches its feature on. */
export const FEATURES: Feature[] = [
  annotationsFeature,
  baselinesFeature,
  changesFeature,
  deadLettersFeature,
  exportFeature,
  homeAssistantFeature,
  importFeature,
  kafkaFeature,
  lineProtocolFeature,
  mappingsFeature,
  parquetFeature,
  prometheusFeature,
  queryFeature,
  sparkplugFeature,
];

export const TOPICS: OpenTopics[] = FEATURES.flatMap(({ topics }) => topics ?? []);

export const CONTRACTS: Contract[] = [CORE_CONTRACT, ...FEATURES];

export const ROUTES: Route[] = CONTRACTS.flatMap(({ routes = [] }) => routes);

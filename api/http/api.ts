import type { RequestHandler } from 'express';
import express from 'express';
import type { Logger } from 'pino';
import type { Config } from '../../common/settings/config.ts';
import type { CredentialService } from '../access/credentials/credential-service.ts';
import type { Access } from '../access/http/index.ts';
import type { Alarms } from '../alarms/index.ts';
import type { Baselines } from '../history/baselines/index.ts';
import type { Reading } from '../history/reading/index.ts';
import type { Ingest } from '../ingest/index.ts';
import type { Descriptions } from '../ingest/registry/descriptions.ts';
import type { Retirement } from '../ingest/registry/index.ts';
import type { Replay } from '../ingest/replay.ts';
import type { Submit, SubmitLines } from '../ingest/submission.ts';
import type { UnmatchedTopics } from '../ingest/unmatched-topics.ts';
import type { Live } from '../live/index.ts';
import type { InstallationStats } from '../live/installation-stats.ts';
import type { Context } from '../observability/index.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { UnwatchedTime } from '../observability/watched-time.ts';
import type { Store } from '../store/index.ts';
import { compressAnswers } from './compression.ts';
import type { Cursors } from './cursor.ts';
import { mqttItem } from './items.ts';
import { createConcurrencyLimits, MAX_CONCURRENT } from './long-requests.ts';
import { API_ROUTES, LINE_ROUTES, PROMETHEUS_PATH, PROMETHEUS_ROUTES } from './routes/index.ts';
import { serve } from './serve.ts';
import { createStream } from './stream/index.ts';

export interface RouteDeps {
  access: Access;
  store: Store;
  reading: Reading;
  alarms: Pick<
    Alarms,
    'rules' | 'backtest' | 'open' | 'toItem' | 'testDelivery' | 'evaluatePast' | 'acknowledge' | 'shelve'
  >;
  baselines: Pick<Baselines, 'judge' | 'at' | 'hours' | 'onChange'>;
  cursors: Cursors;
  submit: Submit;
  submitLines: SubmitLines;
  descriptions: Descriptions;
  importer: Pick<Ingest, 'files' | 'acceptedTimes'>;
  replay: Replay;
  retire: Retirement['retire'];
  credentials: CredentialService;
  unmatchedTopics: UnmatchedTopics;
  unwatchedTime: Pick<UnwatchedTime, 'read'>;
  mqtt: () => ReturnType<typeof mqttItem>;
  live: Live;
  /** in ms; a channel of `/stream` then reads `latest` again */
  resyncMs: number;
  stats: Pick<InstallationStats, 'read' | 'health' | 'recent'>;
  maxConcurrent?: typeof MAX_CONCURRENT;
  groups: number;
  historyDays: number;
  batchDays: number;
  maxClockSkewMs: number;
  maxMessageBytes: number;
  /** limit of an imported Parquet file over HTTP */
  maxImportBytes: number;
  /** setting `AUTO_REGISTER`: the first message of a device registers it */
  autoRegister: boolean;
  dataDir: string;
  takesMqtt: boolean;
  clock: () => number;
  logger: Logger;
  metrics: Metrics;
}

/** All routes under `/api/v1`, and those for clients of InfluxDB and Prometheus. `mqttPort`: port of the embedded broker. */
export function createApi(
  { config, clock, logger, metrics }: Context,
  given: Omit<RouteDeps, keyof ReturnType<typeof settingsOf> | 'mqtt' | 'clock' | 'logger' | 'metrics'> & {
    mqttPort: () => number;
  },
) {
  const mqtt = () => mqttItem(config, given.mqttPort());
  const deps = { ...given, ...settingsOf(config), mqtt, clock, logger, metrics };
  const router = express.Router();
  const limits = createConcurrencyLimits(deps.maxConcurrent ?? MAX_CONCURRENT);
  const stream = createStream({ ...deps, limits });
  router.use(
    ['/api/v1', PROMETHEUS_PATH, ...LINE_ROUTES.map(({ path }) => path)],
    noStore,
    compressAnswers(),
  );
  serve(router, API_ROUTES, { ...deps, limits, stream });
  serve(router, LINE_ROUTES, deps);
  serve(router, PROMETHEUS_ROUTES, { ...deps, limits });
  return { router, readers: stream.readers, stopStreams: stream.stop };
}

export type Api = ReturnType<typeof createApi>;

const settingsOf = ({ retention, ingest, role, dataDir }: Config) => ({
  dataDir,
  groups: retention.latestGroups,
  historyDays: retention.historyDays,
  batchDays: retention.batchDays,
  maxClockSkewMs: ingest.maxClockSkewMs,
  maxMessageBytes: ingest.maxMessageBytes,
  maxImportBytes: ingest.maxImportBytes,
  autoRegister: ingest.autoRegister,
  takesMqtt: role !== 'http',
});

const noStore: RequestHandler = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  next();
};

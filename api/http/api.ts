import express from 'express';
import { compressAnswers } from './compression.js';
import { mqttItem } from './items.js';
import { createConcurrencyLimits, MAX_CONCURRENT } from './long-requests.js';
import { API_ROUTES, LINE_ROUTES, PROMETHEUS_PATH, PROMETHEUS_ROUTES } from './routes/index.js';
import { serve } from './serve.js';
import { createStream } from './stream/index.js';

/** @import { RequestHandler } from 'express' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { CredentialService } from '../access/credentials/credential-service.js' */
/** @import { Access } from '../access/http/index.js' */
/** @import { Alarms } from '../alarms/index.js' */
/** @import { Baselines } from '../history/baselines/index.js' */
/** @import { Reading } from '../history/reading/index.js' */
/** @import { Ingest } from '../ingest/index.js' */
/** @import { Descriptions } from '../ingest/registry/descriptions.js' */
/** @import { Retirement } from '../ingest/registry/index.js' */
/** @import { Replay } from '../ingest/replay.js' */
/** @import { Submit, SubmitLines } from '../ingest/submission.js' */
/** @import { UnmatchedTopics } from '../ingest/unmatched-topics.js' */
/** @import { Live } from '../live/index.js' */
/** @import { InstallationStats } from '../live/installation-stats.js' */
/** @import { Context } from '../observability/index.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { UnwatchedTime } from '../observability/watched-time.js' */
/** @import { Store } from '../store/index.js' */
/** @import { Cursors } from './cursor.js' */

/**
 * The dependencies of routes.
 *
 * @typedef {object} RouteDeps
 * @property {Access} access
 * @property {Store} store
 * @property {Reading} reading
 * @property {Pick<Alarms, 'rules' | 'backtest' | 'open' | 'toItem' | 'testDelivery' | 'evaluatePast' | 'acknowledge' | 'shelve'>} alarms
 * @property {Pick<Baselines, 'judge' | 'at' | 'hours' | 'onChange'>} baselines
 * @property {Cursors} cursors
 * @property {Submit} submit
 * @property {SubmitLines} submitLines
 * @property {Descriptions} descriptions
 * @property {Pick<Ingest, 'files' | 'acceptedTimes'>} importer
 * @property {Replay} replay
 * @property {Retirement['retire']} retire
 * @property {CredentialService} credentials
 * @property {UnmatchedTopics} unmatchedTopics
 * @property {Pick<UnwatchedTime, 'read'>} unwatchedTime
 * @property {() => ReturnType<typeof mqttItem>} mqtt describes the broker that devices connect to
 * @property {Live} live
 * @property {number} resyncMs interval in which a channel of `/stream` reads `latest` again
 * @property {Pick<InstallationStats, 'read' | 'health' | 'recent'>} stats
 * @property {typeof MAX_CONCURRENT} [maxConcurrent]
 * @property {number} groups `LATEST_GROUPS`
 * @property {number} historyDays
 * @property {number} batchDays
 * @property {number} maxClockSkewMs
 * @property {number} maxMessageBytes
 * @property {number} maxImportBytes limit of an imported Parquet file
 * @property {boolean} autoRegister `AUTO_REGISTER`
 * @property {string} dataDir
 * @property {boolean} takesMqtt whether this process receives messages over MQTT
 * @property {() => number} clock epoch ms
 * @property {Logger} logger
 * @property {Metrics} metrics
 */

/**
 * Creates the router of all routes under `/api/v1`, and of the routes for clients of InfluxDB and Prometheus.
 *
 * @param {Context} context
 * @param {Omit<RouteDeps, keyof ReturnType<typeof settingsOf> | 'mqtt' | 'clock' | 'logger' | 'metrics'> & { mqttPort: () => number }} given
 *   `mqttPort`: the port of the embedded broker
 */
export function createApi({ config, clock, logger, metrics }, given) {
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

/** @typedef {ReturnType<typeof createApi>} Api */

/** @param {Config} config */
const settingsOf = ({ retention, ingest, role, dataDir }) => ({
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

/** @type {RequestHandler} */
const noStore = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  next();
};

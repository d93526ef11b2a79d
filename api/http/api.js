import express from 'express';
import { createConcurrencyLimits, MAX_CONCURRENT } from './long-requests.js';
import { API_ROUTES } from './routes/index.js';
import { serve } from './serve.js';
import { createStream } from './stream/index.js';

/** @import { RequestHandler } from 'express' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { CredentialService } from '../access/credentials/credential-service.js' */
/** @import { Access } from '../access/http/index.js' */
/** @import { Reading } from '../history/reading/index.js' */
/** @import { Retirement } from '../ingest/registry/index.js' */
/** @import { Replay } from '../ingest/replay.js' */
/** @import { Submit } from '../ingest/submission.js' */
/** @import { Live } from '../live/index.js' */
/** @import { InstallationStats } from '../live/installation-stats.js' */
/** @import { Context } from '../observability/context.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Store } from '../store/index.js' */
/** @import { Cursors } from './cursor.js' */

/**
 * The dependencies of routes.
 *
 * @typedef {object} RouteDeps
 * @property {Access} access
 * @property {Store} store
 * @property {Reading} reading
 * @property {Cursors} cursors
 * @property {Submit} submit
 * @property {Replay} replay
 * @property {Retirement['retire']} retire
 * @property {CredentialService} credentials
 * @property {Live} live
 * @property {number} resyncMs interval in which a channel of `/stream` reads `latest` again
 * @property {InstallationStats} stats
 * @property {typeof MAX_CONCURRENT} [maxConcurrent]
 * @property {number} groups `LATEST_GROUPS`
 * @property {number} historyDays
 * @property {number} maxClockSkewMs
 * @property {number} maxMessageBytes
 * @property {() => number} clock epoch ms
 * @property {Logger} logger
 * @property {Metrics} metrics
 */

/**
 * The router of everything under `/api/v1`.
 *
 * @param {Context} context
 * @param {Omit<RouteDeps, keyof ReturnType<typeof settingsOf> | 'clock' | 'logger' | 'metrics'>} given
 */
export function createApi({ config, clock, logger, metrics }, given) {
  const deps = { ...given, ...settingsOf(config), clock, logger, metrics };
  const router = express.Router();
  const limits = createConcurrencyLimits(deps.maxConcurrent ?? MAX_CONCURRENT);
  const stream = createStream({ ...deps, limits });
  router.use('/api/v1', noStore);
  serve(router, API_ROUTES, { ...deps, limits, stream });
  return { router, readers: stream.readers, stopStreams: stream.stop };
}

/** @typedef {ReturnType<typeof createApi>} Api */

/** @param {Config} config */
const settingsOf = ({ retention, ingest }) => ({
  groups: retention.latestGroups,
  historyDays: retention.historyDays,
  maxClockSkewMs: ingest.maxClockSkewMs,
  maxMessageBytes: ingest.maxMessageBytes,
});

/** @type {RequestHandler} */
const noStore = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  next();
};

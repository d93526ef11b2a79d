import express from 'express';
import { createConcurrencyLimits, MOST_AT_ONCE } from './concurrency-limits.js';
import { API_ROUTES } from './routes/index.js';
import { serve } from './serve.js';
import { createStream } from './stream/index.js';

/** @import { RequestHandler } from 'express' */
/** @import { Logger } from 'pino' */
/** @import { CredentialService } from '../access/credentials/credential-service.js' */
/** @import { Access } from '../access/http/index.js' */
/** @import { Reading } from '../history/reading/index.js' */
/** @import { Retirement } from '../ingest/registry/index.js' */
/** @import { Replay } from '../ingest/replay.js' */
/** @import { Submit } from '../ingest/submission.js' */
/** @import { Live } from '../live/index.js' */
/** @import { InstallationStats } from '../live/installation-stats.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Store } from '../store/index.js' */
/** @import { Cursors } from './cursor.js' */

/**
 * What routes are made of.
 *
 * @typedef {object} RouteParts
 * @property {Access} access
 * @property {Store} store
 * @property {Reading} reading
 * @property {Cursors} cursors
 * @property {Submit} submit
 * @property {Replay} replay
 * @property {Retirement['retire']} retire
 * @property {CredentialService} credentials
 * @property {Live} live
 * @property {number} healMs what readers follow is read again so often
 * @property {InstallationStats} stats
 * @property {typeof MOST_AT_ONCE} [mostAtOnce]
 * @property {number} groups `LATEST_GROUPS`
 * @property {number} historyDays
 * @property {number} maxClockSkewMs
 * @property {number} maxMessageBytes
 * @property {() => number} clock epoch ms
 * @property {Logger} logger
 * @property {Metrics} metrics
 */

/**
 * Everything under `/api/v1`.
 *
 * @param {RouteParts} parts
 */
export function createApi(parts) {
  const router = express.Router();
  const places = createConcurrencyLimits(parts.mostAtOnce ?? MOST_AT_ONCE);
  const stream = createStream({ ...parts, places });
  router.use('/api/v1', noStore);
  serve(router, API_ROUTES, { ...parts, places, stream });
  return { router, readers: stream.readers, stopStreams: stream.stop };
}

/** @typedef {ReturnType<typeof createApi>} Api */

/** @type {RequestHandler} */
const noStore = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  next();
};

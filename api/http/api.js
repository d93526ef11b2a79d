import express from 'express';
import { createAllPlaces, MOST_AT_ONCE } from './places.js';
import { API_ROUTES } from './routes/index.js';
import { serve } from './serve.js';
import { createStream } from './stream/index.js';

/**
 * What routes are made of.
 *
 * @typedef {object} RouteParts
 * @property {import('../access/http/index.js').Access} access
 * @property {import('../store/index.js').Store} store
 * @property {import('../history/reading/index.js').Reading} reading
 * @property {import('./cursor.js').Cursors} cursors
 * @property {import('../ingest/submission.js').Submit} submit
 * @property {import('../ingest/replay.js').Replay} replay
 * @property {import('../ingest/registry/retirement.js').Retirement['retire']} retire
 * @property {import('../access/credentials/credential-service.js').Keeper} credentials
 * @property {import('../live/index.js').Live} live
 * @property {number} healMs what readers follow is read again so often
 * @property {import('../live/installation-stats.js').InstallationStats} stats
 * @property {typeof MOST_AT_ONCE} [mostAtOnce]
 * @property {number} groups `LATEST_GROUPS`
 * @property {number} historyDays
 * @property {number} maxClockSkewMs
 * @property {number} maxMessageBytes
 * @property {() => number} clock epoch ms
 * @property {import('pino').Logger} logger
 * @property {import('../observability/metrics.js').Metrics} metrics
 */

/**
 * Everything under `/api/v1`.
 *
 * @param {RouteParts} parts
 */
export function createApi(parts) {
  const router = express.Router();
  const places = createAllPlaces(parts.mostAtOnce ?? MOST_AT_ONCE);
  const stream = createStream({ ...parts, places });
  router.use('/api/v1', noStore);
  serve(router, API_ROUTES, { ...parts, places, stream });
  return { router, readers: stream.readers, stopStreams: stream.stop };
}

/** @typedef {ReturnType<typeof createApi>} Api */

/** @type {import('express').RequestHandler} */
const noStore = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  next();
};

import express from 'express';
import { MillraceError } from '../../common/errors.js';
import { hostGuard, tokenGuard } from './guards.js';
import { problemHandler, sendProblem } from './problems.js';
import { getDevice, getDevices, getSensor } from './routes/devices.js';
import { getLatest } from './routes/latest.js';
import { getMeasurements } from './routes/measurements.js';
import { createStatic } from './static.js';
import { createStream } from './stream/index.js';

/**
 * What routes are made of.
 *
 * @typedef {object} RouteParts
 * @property {import('../store/index.js').Store} store
 * @property {import('./cursor.js').Cursors} cursors
 * @property {import('../live.js').Live} live
 * @property {import('../vitals.js').Vitals} vitals
 * @property {number} groups `LATEST_GROUPS`
 * @property {number} historyDays
 * @property {number} maxClockSkewMs
 * @property {() => number} clock epoch ms
 * @property {import('pino').Logger} logger
 * @property {import('../metrics.js').Metrics} metrics
 */

/**
 * Everything that is served over HTTP.
 *
 * @param {RouteParts & { host: string, apiToken: string | undefined, readiness: import('../readiness.js').Readiness }} parts
 */
export function createApp(parts) {
  const { host, apiToken, readiness, logger, metrics } = parts;
  const app = express();
  const stream = createStream(parts);
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(timed(metrics), hostGuard(host), tokenGuard(apiToken));

  const api = express.Router();
  /** @type {Array<[string, import('express').RequestHandler]>} */
  const routes = [
    ['/latest', getLatest(parts)],
    ['/devices', getDevices(parts)],
    ['/devices/:device', getDevice(parts)],
    ['/devices/:device/sensors/:sensor', getSensor(parts)],
    ['/devices/:device/sensors/:sensor/measurements', getMeasurements(parts)],
    ['/stream', stream.handler],
  ];
  for (const [path, handler] of routes) get(api, path, named(`/api/v1${path}`), handler);
  app.use('/api/v1', noStore, api);
  app.use('/api', unknown);

  get(app, '/healthz', named('/healthz'), (_req, res) => {
    res.json({ status: 'alive' });
  });
  get(app, '/readyz', named('/readyz'), async (_req, res) => {
    const state = await readiness.read();
    res.status(state.ready ? 200 : 503).json(state);
  });
  get(app, '/metrics', named('/metrics'), async (_req, res) => {
    res.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  app.use(createStatic());
  app.use(unknown);
  app.use(problemHandler(logger));
  return { app, stop: stream.stop };
}

/**
 * Serves GET, and HEAD with it, and answers every other method as it should be answered.
 *
 * @param {import('express').IRouter} router
 * @param {string} path
 * @param {import('express').RequestHandler} name gives the route its name
 * @param {import('express').RequestHandler} handler
 */
function get(router, path, name, handler) {
  router.get(path, name, handler);
  router.all(path, name, (_req, res) => {
    res.set('Allow', 'GET, HEAD');
    sendProblem(res, new MillraceError('method_not_allowed', 'Only GET and HEAD are served here.'));
  });
}

/** @param {string} route @returns {import('express').RequestHandler} */
const named = (route) => (_req, res, next) => {
  res.locals['route'] = route;
  next();
};

/** @type {import('express').RequestHandler} */
const unknown = () => {
  throw new MillraceError('not_found', 'Nothing is served at this address.');
};

/** @type {import('express').RequestHandler} */
const noStore = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  next();
};

/**
 * Times each request under its route, never its path: labels must not grow with the fleet. Express's own `req.route`
 * would not do: it loses the part before a router as soon as a handler fails. The dashboard's files are `other`.
 *
 * @param {import('../metrics.js').Metrics} metrics
 * @returns {import('express').RequestHandler}
 */
const timed = (metrics) => (req, res, next) => {
  const end = metrics.httpSeconds.startTimer();
  res.on('finish', () => {
    end({ route: res.locals['route'] ?? 'other', method: req.method, status: res.statusCode });
  });
  next();
};

import express from 'express';
import { hostGuard, tokenGuard } from './guards.js';
import { problemHandler } from './problems.js';
import { get, named, timed, unknown } from './serve.js';
import { createStatic } from './static.js';

/**
 * What is served over HTTP: how this process is, and where it serves readers, the API and the dashboard.
 *
 * @param {object} parts
 * @param {import('./api.js').Api | null} parts.api null: this process serves no readers
 * @param {import('../readiness.js').Readiness} parts.readiness
 * @param {string} parts.host address that the server listens on
 * @param {string | undefined} parts.apiToken
 * @param {import('pino').Logger} parts.logger
 * @param {import('../metrics.js').Metrics} parts.metrics
 */
export function createApp({ api, readiness, host, apiToken, logger, metrics }) {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(timed(metrics), hostGuard(host), tokenGuard(apiToken));

  if (api) app.use('/api/v1', api.router);
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
  if (api) app.use(createStatic());
  app.use(unknown);
  app.use(problemHandler(logger));
  return app;
}

import express from 'express';
import { asyncApiDocument } from './contract/asyncapi.js';
import { openApiDocument } from './contract/openapi.js';
import { hostGuard, tokenGuard } from './guards.js';
import { problemHandler } from './problems.js';
import { DOCUMENT_ROUTES, ROUTES, SERVICE_ROUTES } from './routes/index.js';
import { serve, timed, unknown } from './serve.js';
import { createStatic } from './static.js';

/**
 * What is served over HTTP: how this process is, and where it serves readers, the API and the dashboard.
 *
 * @param {object} parts
 * @param {import('./api.js').Api | null} parts.api null: this process serves no readers
 * @param {import('../readiness.js').Readiness} parts.readiness
 * @param {string} parts.version of this program
 * @param {string} parts.host address that the server listens on
 * @param {string | undefined} parts.apiToken
 * @param {import('pino').Logger} parts.logger
 * @param {import('../metrics.js').Metrics} parts.metrics
 */
export function createApp({ api, readiness, version, host, apiToken, logger, metrics }) {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(timed(metrics), hostGuard(host), tokenGuard(apiToken));

  if (api) app.use(api.router);
  app.use('/api', unknown);
  serve(app, SERVICE_ROUTES, { readiness, metrics });
  if (api) {
    serve(app, DOCUMENT_ROUTES, {
      openApi: openApiDocument({ routes: ROUTES, version, guarded: apiToken !== undefined }),
      asyncApi: asyncApiDocument({ version }),
    });
    app.use(createStatic());
  }
  app.use(unknown);
  app.use(problemHandler(logger));
  return app;
}

import express from 'express';
import { limitRequests } from './access/rates.js';
import { asyncApiDocument } from './contract/asyncapi.js';
import { openApiDocument } from './contract/openapi.js';
import { demandHost, hostGuard } from './guards.js';
import { safeHeaders } from './headers.js';
import { problemHandler } from './problems.js';
import { requestId } from './request-id.js';
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
 * @param {import('./access/index.js').Access} parts.access
 * @param {Pick<import('../../common/settings/index.js').Config['http'], 'host' | 'tls' | 'trustProxy' | 'requestsPerSecond'>} parts.settings
 * @param {import('pino').Logger} parts.logger
 * @param {import('../metrics.js').Metrics} parts.metrics
 */
export function createApp({ api, readiness, version, access, settings, logger, metrics }) {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(requestId);
  app.set('trust proxy', settings.trustProxy);
  app.use(timed(metrics), safeHeaders({ encrypted: settings.tls !== null }), demandHost, hostGuard(settings));
  // Who needs tokens, or a proxy, has others than himself as clients.
  const spareThisMachine = !access.isRequired && settings.trustProxy === 0;
  app.use(limitRequests({ most: 10 * settings.requestsPerSecond, windowMs: 10_000 }, { spareThisMachine }));

  if (api) app.use(api.router);
  app.use('/api', unknown);
  serve(app, SERVICE_ROUTES, { access, readiness, metrics });
  if (api) {
    serve(app, DOCUMENT_ROUTES, {
      access,
      openApi: openApiDocument({ routes: ROUTES, version, guarded: access.isRequired }),
      asyncApi: asyncApiDocument({ version }),
    });
    app.use(createStatic());
  }
  app.use(unknown);
  app.use(problemHandler(logger));
  return app;
}

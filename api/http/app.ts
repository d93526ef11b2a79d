import { randomUUID } from 'node:crypto';
import express from 'express';
import { isLoopback } from '../../common/addresses.js';
import { MillraceError } from '../../common/errors.js';
import { limitRequests } from '../access/http/index.js';
import { compressAnswers } from './compression.js';
import { asyncApiDocument } from './contract/asyncapi.js';
import { openApiDocument } from './contract/openapi.js';
import { createDashboard } from './dashboard.js';
import { safeHeaders } from './headers.js';
import { createManual } from './manual.js';
import { problemHandler, sendProblem } from './problems.js';
import { DOCUMENT_ROUTES, INFLUX_ROUTES, ROUTES, SERVICE_ROUTES } from './routes/index.js';
import { serve, timed, unknown } from './serve.js';

/** @import { RequestHandler, Response } from 'express' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Access } from '../access/http/index.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Readiness } from '../observability/readiness.js' */
/** @import { Api } from './api.js' */

// The files of this folder: `server.js` listens, this file builds the app, and `api.js` has all routes below `/api/v1`.
// `contract/` describes the routes, and `stream/` is the live stream. The folder does not depend on CQL or MQTT.

/**
 * Creates the Express app. It serves health and metrics in every role. It serves the API, its documents and the dashboard only
 * if `api` is given.
 *
 * @param {object} deps
 * @param {Api | null} deps.api null: this process serves no API
 * @param {Readiness} deps.readiness
 * @param {string} deps.version version of this program
 * @param {Access} deps.access
 * @param {Pick<Config['http'], 'host' | 'tls' | 'trustProxy' | 'requestsPerSecond'>} deps.settings
 * @param {Logger} deps.logger
 * @param {Metrics} deps.metrics
 */
export function createApp({ api, readiness, version, access, settings, logger, metrics }) {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(requestId);
  app.set('trust proxy', settings.trustProxy);
  app.use(
    timed(metrics),
    safeHeaders({ encrypted: settings.tls !== null }),
    demandHost,
    hostGuard({ settings, access }),
  );
  // If tokens are required or a proxy is trusted, requests from loopback may come from other people. So they are limited as
  // well.
  const exemptLoopback = !access.isRequired && settings.trustProxy === 0;
  app.use(limitRequests({ most: 10 * settings.requestsPerSecond, windowMs: 10_000 }, { exemptLoopback }));

  if (api) app.use(api.router);
  app.use('/api', unknown);
  serve(app, SERVICE_ROUTES, { access, readiness, metrics });
  if (api) {
    serve(app, INFLUX_ROUTES, { access, readiness, version });
    app.use(
      DOCUMENT_ROUTES.map(({ path }) => path),
      compressAnswers(),
    );
    serve(app, DOCUMENT_ROUTES, {
      access,
      openApi: openApiDocument({ routes: ROUTES, version, guarded: access.isRequired }),
      asyncApi: asyncApiDocument({ version }),
    });
    app.use(createManual(), createDashboard());
  }
  app.use(unknown);
  app.use(problemHandler(logger));
  return app;
}

/** `uri-host [":" port]` (RFC 9110, 7.2): a name or an IPv4 address, which may be empty, or an IPv6 address in brackets. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** The absolute form of a request target (RFC 9112, 3.2.2). Its authority ends where the path or the query begins. */
const ABSOLUTE = /^https?:\/\/([^/?#]+)/i;

/**
 * Refuses a request without exactly one valid host (RFC 9112, 3.2). The authority of an absolute request target replaces the
 * header `Host` (3.2.2). So every later step reads the host from `req.headers.host`.
 *
 * @type {RequestHandler}
 */
const demandHost = (req, res, next) => {
  const hosts = req.headersDistinct['host'] ?? [];
  if (hosts.length > 1) return refuse(res, 'The request has more than one Host header.');
  if (hosts.length === 0 && req.httpVersion !== '1.0')
    return refuse(res, 'A request of HTTP/1.1 has a Host header.');
  if (!isOriginForm(req.url)) {
    const [, authority] = ABSOLUTE.exec(req.url) ?? [];
    if (authority === undefined || !HOST.test(authority))
      return refuse(res, 'The request target is neither a path nor a URL of HTTP.');
    req.headers.host = authority;
  }
  if (!HOST.test(req.headers.host ?? '')) return refuse(res, 'The Host header is not valid.');
  next();
};

/** `OPTIONS *` has no path and no authority. @param {string} target */
const isOriginForm = (target) => target.startsWith('/') || target === '*';

/** @param {Response} res @param {string} detail */
const refuse = (res, detail) => sendProblem(res, new MillraceError('bad_request', detail));

/**
 * Returns middleware that serves only loopback host names if the server listens on loopback. It refuses requests of a web page
 * whose host name was pointed at this machine (DNS rebinding). Behind a proxy, clients use the host name of the proxy, and such
 * a page would need a token.
 *
 * @param {object} deps
 * @param {Pick<Config['http'], 'host' | 'tls' | 'trustProxy'>} deps.settings
 * @param {Pick<Access, 'isRequired'>} deps.access
 * @returns {RequestHandler}
 */
const hostGuard = ({ settings, access }) => {
  const servesAll = !isLoopback(settings.host) || (settings.trustProxy > 0 && access.isRequired);
  return (req, res, next) => {
    if (servesAll) return next();
    const host = (req.headers.host ?? '').replace(/:\d*$/, '');
    if (isLoopback(host)) return next();
    const scheme = settings.tls ? 'https' : 'http';
    sendProblem(res, new MillraceError('wrong_host', `Use ${scheme}://localhost or ${scheme}://127.0.0.1.`));
  };
};

/** Request ids of clients that are safe to copy into logs and answers. */
const SAFE_ID = /^[\w.:+/=@-]{1,128}$/;

/**
 * Gives each request an id: a safe id from the header `X-Request-Id`, or a new id. The header of the answer, problem documents
 * and log lines contain this id.
 *
 * @type {RequestHandler}
 */
const requestId = (req, res, next) => {
  const given = req.get('X-Request-Id') ?? '';
  const id = SAFE_ID.test(given) ? given : randomUUID();
  res.locals['requestId'] = id;
  res.set('X-Request-Id', id);
  next();
};

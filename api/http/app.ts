import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response, Router } from 'express';
import express from 'express';
import type { Logger } from 'pino';
import { isLoopback } from '../../common/addresses.ts';
import { MillraceError } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import { type Access, limitRequests } from '../access/http/index.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Readiness } from '../observability/readiness.ts';
import { compressAnswers } from './compression.ts';
import { type Contract, openApiDocument } from './contract/openapi.ts';
import { createDashboard } from './dashboard.ts';
import { safeHeaders } from './headers.ts';
import { createManual } from './manual.ts';
import { problemHandler, sendProblem } from './problems.ts';
import * as service from './routes/service.ts';
import { bindRoutes, serve, timed, unknown } from './serve.ts';

// The files of this folder: `server.ts` listens, this file builds the app, and `api.ts` has all routes below `/api/v1`.
// `contract/` describes the routes, and `stream/` is the live stream. The folder does not depend on CQL or MQTT.

/** Serves health and metrics in every role; the API, its documents and the dashboard only if `api` is given. */
export function createApp({
  api,
  contracts,
  readiness,
  version,
  access,
  settings,
  logger,
  metrics,
}: {
  /** null: only health and metrics are served */
  api: Router | null;
  /** what `/openapi.json` describes */
  contracts: Contract[];
  readiness: Readiness;
  version: string;
  access: Access;
  settings: Pick<Config['http'], 'host' | 'tls' | 'trustProxy' | 'requestsPerSecond'>;
  logger: Logger;
  metrics: Metrics;
}) {
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
  // If tokens are required or a proxy is trusted, requests from loopback may come from other people. So they are limited as well.
  const exemptLoopback = !access.isRequired && settings.trustProxy === 0;
  app.use(limitRequests({ most: 10 * settings.requestsPerSecond, windowMs: 10_000 }, { exemptLoopback }));

  if (api) app.use(api);
  app.use('/api', unknown);
  serve(app, bindRoutes(service.routes, { readiness, metrics }), access);
  if (api) {
    const openApi = openApiDocument(contracts, { version, guarded: access.isRequired });
    app.use(
      service.documentRoutes.map(({ path }) => path),
      compressAnswers(),
    );
    serve(app, bindRoutes(service.documentRoutes, { openApi }), access);
    app.use(createManual({ documents: documentsOf(contracts) }), createDashboard());
  }
  app.use(unknown);
  app.use(problemHandler(logger));
  return app;
}

/** Paths of the documents of the interfaces, such as `/openapi.json`. */
const documentsOf = (contracts: Contract[]): string[] =>
  contracts
    .flatMap(({ routes = [] }) => routes)
    .map(({ path }) => path)
    .filter((path) => /^\/\w+\.json$/.test(path));

/** `uri-host [":" port]` (RFC 9110, 7.2): a name or an IPv4 address, which may be empty, or an IPv6 address in brackets. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** The absolute form of a request target (RFC 9112, 3.2.2). Its authority ends where the path or the query begins. */
const ABSOLUTE = /^https?:\/\/([^/?#]+)/i;

/**
 * A request needs exactly one valid host (RFC 9112, 3.2). The authority of an absolute request target replaces the header `Host` (3.2.2).
 * So every later step reads the host from `req.headers.host`.
 */
const demandHost: RequestHandler = (req, res, next) => {
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

/** `OPTIONS *` has no path and no authority. */
const isOriginForm = (target: string) => target.startsWith('/') || target === '*';

const refuse = (res: Response, detail: string) => sendProblem(res, new MillraceError('bad_request', detail));

/**
 * A server on loopback serves only loopback host names. So it refuses a web page whose host name was pointed at this machine (DNS
 * rebinding). Behind a proxy, clients use the host name of the proxy, and such a page would need a token.
 */
const hostGuard = ({
  settings,
  access,
}: {
  settings: Pick<Config['http'], 'host' | 'tls' | 'trustProxy'>;
  access: Pick<Access, 'isRequired'>;
}): RequestHandler => {
  const servesAll = !isLoopback(settings.host) || (settings.trustProxy > 0 && access.isRequired);
  return (req, res, next) => {
    if (servesAll) return next();
    const host = (req.headers.host ?? '').replace(/:\d*$/, '');
    if (isLoopback(host)) return next();
    const scheme = settings.tls ? 'https' : 'http';
    sendProblem(res, new MillraceError('wrong_host', `Use ${scheme}://localhost or ${scheme}://127.0.0.1.`));
  };
};

/** Ids of clients that are safe to copy into logs and answers. */
const SAFE_ID = /^[\w.:+/=@-]{1,128}$/;

/** A safe id from the header `X-Request-Id`, or a new id. The header of the answer, problem documents and log lines contain it. */
const requestId: RequestHandler = (req, res, next) => {
  const given = req.get('X-Request-Id') ?? '';
  const id = SAFE_ID.test(given) ? given : randomUUID();
  res.locals['requestId'] = id;
  res.set('X-Request-Id', id);
  next();
};

import type { IRouter, RequestHandler } from 'express';
import { MillraceError } from '../../common/errors.ts';
import type { Access } from '../access/http/index.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Operation } from './contract/operation.ts';
import { sendProblem } from './problems.ts';
import type { Route } from './route.ts';

/** A route that knows its handler. */
export type BoundRoute = Omit<Route, 'handler'> & { handler: RequestHandler };

export const bindRoutes = <D>(routes: Array<Route<D>>, deps: D): BoundRoute[] =>
  routes.map(({ handler, ...route }) => ({ ...route, handler: handler(deps) }));

/**
 * Each route checks its scope. GET also serves HEAD. Other methods get 405. A request whose `Accept` excludes all media types of the route
 * gets 406.
 */
export function serve(router: IRouter, routes: BoundRoute[], access: Access) {
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    const address = addressOf(path);
    for (const { method, handler, operation } of here) {
      router[method](
        address,
        named(address),
        access.guard(operation.scope, operation),
        acceptable(operation),
        handler,
      );
    }
    router.all(address, named(address, 'other'), allowOnly(here.map(({ method }) => method.toUpperCase())));
  }
}

/** The path as Express writes it. */
export const addressOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');

function allowOnly(served: string[]): RequestHandler {
  const methods = served.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const message = `Only ${LIST.format(methods)} ${methods.length > 1 ? 'are' : 'is'} served here.`;
  return (_req, res) => {
    res.set('Allow', methods.join(', '));
    sendProblem(res, new MillraceError('method_not_allowed', message));
  };
}

/** Refuses the request before its handler runs. */
function acceptable({ answers }: Operation): RequestHandler {
  const types = [...new Set(Object.values(answers).flatMap((content) => Object.keys(content)))];
  if (types.length === 0) return (_req, _res, next) => next();
  // An `Accept` with parameters matches only a type with the same parameters.
  const offered = types.flatMap((type) => [type, `${type}; charset=utf-8`]);
  return (req, _res, next) => {
    if (req.accepts(offered)) return next();
    throw new MillraceError(
      'not_acceptable',
      `This route serves ${LIST.format(types)}. The Accept header allows none of it.`,
    );
  };
}

const LIST = new Intl.ListFormat('en', { type: 'conjunction' });

const named =
  (route: string, method?: string): RequestHandler =>
  (req, res, next) => {
    Object.assign(res.locals, { route, method: method ?? req.method });
    next();
  };

export const unknown: RequestHandler = () => {
  throw new MillraceError('not_found', 'Nothing is served at this address.');
};

/**
 * Measures each request under its route instead of its path, because the number of labels must not grow with the fleet. `req.route` of
 * Express loses the prefix of the router when a handler fails. Files of the dashboard have the label `other`, and so have methods that a
 * route does not serve, because a client may send dozens of methods.
 */
export const timed =
  (metrics: Metrics): RequestHandler =>
  (req, res, next) => {
    const end = metrics.httpSeconds.startTimer();
    metrics.httpInFlight.inc();
    res.once('close', () => metrics.httpInFlight.dec());
    res.on('finish', () => {
      const { route = 'other', method = req.method === 'GET' ? 'GET' : 'other' } = res.locals;
      end({ route, method, status: res.statusCode });
    });
    next();
  };

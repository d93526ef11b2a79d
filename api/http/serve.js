import { MillraceError } from '../../common/errors.js';
import { sendProblem } from './problems.js';

/** @import { IRouter, RequestHandler } from 'express' */
/** @import { Access } from '../access/http/index.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Operation } from './contract/operation.js' */
/** @import { RouteOf } from './routes/index.js' */

/**
 * Serves routes to who has their scope, HEAD with GET, and answers every other method at their addresses as it should be answered, and who
 * takes nothing of what is served there.
 *
 * @template {{ access: Access }} P
 * @param {IRouter} router
 * @param {Array<RouteOf<P>>} routes
 * @param {P} parts what they are made of
 */
export function serve(router, routes, parts) {
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    const address = path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const { method, create, operation } of here) {
      router[method](
        address,
        named(address),
        parts.access.guard(operation.scope),
        acceptable(operation),
        create(parts),
      );
    }
    router.all(address, named(address, 'other'), allowOnly(here.map(({ method }) => method.toUpperCase())));
  }
}

/** @param {string[]} served @returns {RequestHandler} */
function allowOnly(served) {
  const methods = served.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const says = `Only ${LIST.format(methods)} ${methods.length > 1 ? 'are' : 'is'} served here.`;
  return (_req, res) => {
    res.set('Allow', methods.join(', '));
    sendProblem(res, new MillraceError('method_not_allowed', says));
  };
}

/**
 * Refuses who takes none of the media types that a route answers with, before it does anything.
 *
 * @param {Operation} operation
 * @returns {RequestHandler}
 */
function acceptable({ answers }) {
  const types = [...new Set(Object.values(answers).flatMap((content) => Object.keys(content)))];
  if (types.length === 0) return (_req, _res, next) => next();
  // With parameters, a type is accepted only where it has the same ones.
  const offered = types.flatMap((type) => [type, `${type}; charset=utf-8`]);
  return (req, _res, next) => {
    if (req.accepts(offered)) return next();
    throw new MillraceError(
      'not_acceptable',
      `Served here: ${LIST.format(types)}. The Accept header takes none of it.`,
    );
  };
}

const LIST = new Intl.ListFormat('en', { type: 'conjunction' });

/**
 * @param {string} route
 * @param {string} [method] default: that of the request
 * @returns {RequestHandler}
 */
const named = (route, method) => (req, res, next) => {
  Object.assign(res.locals, { route, method: method ?? req.method });
  next();
};

/** @type {RequestHandler} */
export const unknown = () => {
  throw new MillraceError('not_found', 'Nothing is served at this address.');
};

/**
 * Times each request under its route, never its path: labels must not grow with the fleet. Express's own `req.route`
 * would not do: it loses the part before a router as soon as a handler fails. The dashboard's files are `other`, and so is
 * a method that a route does not serve: there are dozens that anybody may send.
 *
 * @param {Metrics} metrics
 * @returns {RequestHandler}
 */
export const timed = (metrics) => (req, res, next) => {
  const end = metrics.httpSeconds.startTimer();
  metrics.httpInFlight.inc();
  res.once('close', () => metrics.httpInFlight.dec());
  res.on('finish', () => {
    const { route = 'other', method = req.method === 'GET' ? 'GET' : 'other' } = res.locals;
    end({ route, method, status: res.statusCode });
  });
  next();
};

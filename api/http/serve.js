import { MillraceError } from '../../common/errors.js';
import { sendProblem } from './problems.js';

/**
 * Serves GET, and HEAD with it, and answers every other method as it should be answered.
 *
 * @param {import('express').IRouter} router
 * @param {string} path
 * @param {import('express').RequestHandler} name gives the route its name
 * @param {import('express').RequestHandler} handler
 */
export function get(router, path, name, handler) {
  router.get(path, name, handler);
  router.all(path, name, allowOnly('GET, HEAD', 'Only GET and HEAD are served here.'));
}

/**
 * Serves POST, and answers every other method as it should be answered.
 *
 * @param {import('express').IRouter} router
 * @param {string} path
 * @param {import('express').RequestHandler} name gives the route its name
 * @param {import('express').RequestHandler} handler
 */
export function post(router, path, name, handler) {
  router.post(path, name, handler);
  router.all(path, name, allowOnly('POST', 'Only POST is served here.'));
}

/** @param {string} methods @param {string} says @returns {import('express').RequestHandler} */
const allowOnly = (methods, says) => (_req, res) => {
  res.set('Allow', methods);
  sendProblem(res, new MillraceError('method_not_allowed', says));
};

/** @param {string} route @returns {import('express').RequestHandler} */
export const named = (route) => (_req, res, next) => {
  res.locals['route'] = route;
  next();
};

/** @type {import('express').RequestHandler} */
export const unknown = () => {
  throw new MillraceError('not_found', 'Nothing is served at this address.');
};

/**
 * Times each request under its route, never its path: labels must not grow with the fleet. Express's own `req.route`
 * would not do: it loses the part before a router as soon as a handler fails. The dashboard's files are `other`.
 *
 * @param {import('../metrics.js').Metrics} metrics
 * @returns {import('express').RequestHandler}
 */
export const timed = (metrics) => (req, res, next) => {
  const end = metrics.httpSeconds.startTimer();
  res.on('finish', () => {
    end({ route: res.locals['route'] ?? 'other', method: req.method, status: res.statusCode });
  });
  next();
};

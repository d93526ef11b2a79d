import { isLoopback } from '../../common/addresses.js';
import { MillraceError } from '../../common/errors.js';
import { sendProblem } from './problems.js';

/**
 * A request of HTTP/1.1 names a host (RFC 9112, 3.2).
 *
 * @type {import('express').RequestHandler}
 */
export const demandHost = (req, res, next) => {
  if (req.headers.host !== undefined || req.httpVersion === '1.0') return next();
  sendProblem(res, new MillraceError('bad_request', 'A request of HTTP/1.1 has a Host header.'));
};

/**
 * On loopback only loopback names are served: a page of somewhere else, whose name was made to point here (DNS
 * rebinding), is not.
 *
 * @param {Pick<import('../../common/settings.js').Config['http'], 'host' | 'tls'>} settings
 * @returns {import('express').RequestHandler}
 */
export const hostGuard = (settings) => (req, res, next) => {
  if (!isLoopback(settings.host)) return next();
  const host = (req.headers.host ?? '').replace(/:\d+$/, '');
  if (isLoopback(host)) return next();
  const scheme = settings.tls ? 'https' : 'http';
  sendProblem(res, new MillraceError('wrong_host', `Use ${scheme}://localhost or ${scheme}://127.0.0.1.`));
};

import { isLoopback } from '../../common/addresses.js';
import { MillraceError } from '../../common/errors.js';
import { sendProblem } from './problems.js';

/**
 * On loopback only loopback names are served: a page of somewhere else, whose name was made to point here (DNS
 * rebinding), is not.
 *
 * @param {string} listening address that the server listens on
 * @returns {import('express').RequestHandler}
 */
export const hostGuard = (listening) => (req, res, next) => {
  if (!isLoopback(listening)) return next();
  const host = (req.headers.host ?? '').replace(/:\d+$/, '');
  if (isLoopback(host)) return next();
  sendProblem(res, new MillraceError('wrong_host', 'Use http://localhost or http://127.0.0.1.'));
};

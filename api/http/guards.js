import { MillraceError } from '../../common/errors.js';
import { sameSecret } from '../../common/same-secret.js';
import { isLoopback } from '../../common/settings.js';
import { sendProblem } from './problems.js';
import { ROUTES } from './routes/index.js';

const OPEN = new Set(ROUTES.filter(({ operation }) => operation.scope === 'open').map(({ path }) => path));

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

/**
 * Demands the token, if there is one: as a bearer's (RFC 6750), or as the password of Basic (RFC 7617), so that a
 * browser can ask for it. Not every route demands one.
 *
 * @param {string | undefined} token
 * @returns {import('express').RequestHandler}
 */
export const tokenGuard = (token) => (req, res, next) => {
  if (!token || OPEN.has(req.path)) return next();
  if (sameSecret(givenToken(req.headers.authorization ?? ''), token)) return next();
  res.set('WWW-Authenticate', 'Basic realm="Millrace", charset="UTF-8"');
  sendProblem(res, new MillraceError('unauthorized', 'Show API_TOKEN as a bearer token or as the password.'));
};

/** @param {string} header @returns {string} */
function givenToken(header) {
  const [, scheme = '', rest = ''] = /^(\S+) +(.*)$/.exec(header) ?? [];
  if (scheme.toLowerCase() === 'bearer') return rest;
  if (scheme.toLowerCase() !== 'basic') return '';
  const pair = Buffer.from(rest, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

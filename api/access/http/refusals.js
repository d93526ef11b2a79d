import { MillraceError } from '../../../common/errors.js';
import { changesSomething, originOf } from './origin.js';

/**
 * A browser sends the cookie by itself, and reaches what no token protects, whatever page it shows. So what changes
 * something must not come from a page of somebody else's, and a session's must be known to come from ours.
 *
 * @param {import('express').Request} req
 * @param {import('./index.js').Caller} caller
 * @throws {MillraceError} `forbidden`
 */
export function demandOwnPage(req, { by }) {
  if (by === 'token' || !changesSomething(req)) return;
  const origin = originOf(req);
  if (origin === 'own' || (origin === 'untold' && by !== 'session')) return;
  throw new MillraceError('forbidden', 'What changes something must come from a page of this very origin.');
}

/**
 * @param {import('express').Response} res
 * @param {string} says
 * @param {string} [error] as RFC 6750 names it
 */
export function unauthorized(res, says, error) {
  res.set('WWW-Authenticate', `Bearer realm="Millrace"${error ? `, error="${error}"` : ''}`);
  return new MillraceError('unauthorized', says);
}

/**
 * @param {import('express').Response} res
 * @param {import('./scopes.js').Scope} scope that is needed
 */
export function forbidden(res, scope) {
  res.set('WWW-Authenticate', `Bearer realm="Millrace", error="insufficient_scope", scope="${scope}"`);
  return new MillraceError('forbidden', `This needs a token of the scope ${scope}.`, { details: { scope } });
}

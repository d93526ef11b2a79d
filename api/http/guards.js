import { isLoopback } from '../../common/addresses.js';
import { MillraceError } from '../../common/errors.js';
import { sendProblem } from './problems.js';

/** `uri-host [":" port]` (RFC 9110, 7.2): a name or an IPv4 address, which may be empty, or an IPv6 address in brackets. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** The absolute form of a request target (RFC 9112, 3.2.2). Its authority ends where the path or the query begins. */
const ABSOLUTE = /^https?:\/\/([^/?#]+)/i;

/**
 * Refuses a request without one valid host (RFC 9112, 3.2). The authority of an absolute request target replaces the header
 * `Host` (3.2.2), so every later step reads the host of the request in `req.headers.host`.
 *
 * @type {import('express').RequestHandler}
 */
export const demandHost = (req, res, next) => {
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

/** @param {import('express').Response} res @param {string} detail */
const refuse = (res, detail) => sendProblem(res, new MillraceError('bad_request', detail));

/**
 * On loopback only loopback names are served: a page of somewhere else, whose name was made to point here (DNS
 * rebinding), is not.
 *
 * @param {Pick<import('../../common/settings/index.js').Config['http'], 'host' | 'tls'>} settings
 * @returns {import('express').RequestHandler}
 */
export const hostGuard = (settings) => (req, res, next) => {
  if (!isLoopback(settings.host)) return next();
  const host = (req.headers.host ?? '').replace(/:\d*$/, '');
  if (isLoopback(host)) return next();
  const scheme = settings.tls ? 'https' : 'http';
  sendProblem(res, new MillraceError('wrong_host', `Use ${scheme}://localhost or ${scheme}://127.0.0.1.`));
};

import { isLoopback } from '../../../common/addresses.js';
import { MillraceError } from '../../../common/errors.js';
import { LogThrottle } from '../../../common/log-throttle.js';
import { createAttempts } from './rate-limits.js';
import { COOKIE, cookieOptions, cookiesOf, createSessions } from './sessions.js';
import { createTokens, readToken, SCOPES } from './tokens.js';

export { limitRequests } from './rate-limits.js';
export { COOKIE } from './sessions.js';
export { SCOPES } from './tokens.js';

/** @import { Request, RequestHandler, Response } from 'express' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Attempts, Rate } from './rate-limits.js' */
/** @import { Scope } from './tokens.js' */

/**
 * The caller of a request and its scopes.
 *
 * @typedef {object} Caller
 * @property {'anybody' | 'nobody' | 'token' | 'session'} by `anybody`: no token is configured; `nobody`: the
 *   request has no token
 * @property {readonly Scope[]} scopes
 * @property {number | null} endsAt end of the session, in epoch ms; null: the caller has no session
 */

/** @type {Caller} */
const ANYBODY = { by: 'anybody', scopes: SCOPES, endsAt: null };
/** @type {Caller} */
const NOBODY = { by: 'nobody', scopes: [], endsAt: null };

/**
 * Returns the access control of the HTTP API: requests need a token, or a session that was started with a token.
 *
 * @param {object} deps
 * @param {Pick<Config['http'], 'host' | 'tls' | 'apiToken' | 'readTokens' | 'ingestTokens' | 'sessionMs'>} deps.settings
 * @param {string} deps.secret signs sessions
 * @param {Rate} deps.attempts limit of wrong tokens by address
 * @param {() => number} deps.clock epoch ms
 * @param {Logger} deps.logger
 */
export function createAccess({ settings, secret, attempts, clock, logger }) {
  const cookie = cookieOptions(settings.tls !== null || !isLoopback(settings.host));
  const tokens = createTokens(settings);
  const sessions = createSessions({ secret, known: tokens.known, sessionMs: settings.sessionMs, clock });
  // Requests and logins are counted separately, because a program with an old token must not prevent logins from the same
  // address.
  const requests = createAttempts(attempts);
  const signIns = createAttempts(attempts);
  const notices = new TokenNotices({ logger });

  /**
   * @param {Request} req @param {Response} res @param {string} given @param {Attempts} limiter
   * @throws {MillraceError} `unauthorized`, `rate_limited`
   */
  async function checkToken(req, res, given, limiter) {
    const known = tokens.find(given);
    if (known) return known;
    const address = req.ip ?? '';
    notices.wrong(address);
    try {
      await limiter.count(req, res);
    } catch (error) {
      notices.tooMany(address);
      throw error;
    }
    throw unauthorized(res, 'The token is not valid.', 'invalid_token');
  }

  /** @param {Request} req @param {Response} res @param {{ tokenInQuery?: boolean }} [options] @returns {Promise<Caller>} @throws {MillraceError} `unauthorized`, `rate_limited` */
  async function callerOf(req, res, { tokenInQuery = false } = {}) {
    if (!tokens.areSet) return ANYBODY;
    const [session] = cookiesOf(req).flatMap((value) => sessions.open(value) ?? []);
    if (session) return { by: 'session', ...session };
    const given = readToken(req.headers.authorization) ?? (tokenInQuery ? passwordOf(req) : null);
    if (given === null) return NOBODY;
    const { scopes } = await checkToken(req, res, given, requests);
    return { by: 'token', scopes, endsAt: null };
  }

  return {
    callerOf,

    /** Whether requests need a token. */
    isRequired: tokens.areSet,

    /**
     * Middleware that requires a scope. It stores the caller in `res.locals.caller`.
     *
     * @param {'open' | Scope} scope
     * @param {{ tokenInQuery?: boolean }} [options] `tokenInQuery`: the token may also be in the query parameter `p`
     * @returns {RequestHandler}
     */
    guard: (scope, options) => async (req, res, next) => {
      if (scope === 'open') return next();
      const caller = await callerOf(req, res, options);
      if (caller.by === 'nobody') throw unauthorized(res, 'Show a token as a bearer, or sign in.');
      if (!caller.scopes.includes(scope)) throw forbidden(res, scope);
      requireSameOrigin(req, caller);
      res.locals['caller'] = caller;
      next();
    },

    /**
     * Starts a session. The server stores nothing, because the cookie has the whole state.
     *
     * @param {Request} req
     * @param {Response} res
     * @param {string} token
     * @returns {Promise<Caller>}
     * @throws {MillraceError} `unauthorized`, `forbidden`, `rate_limited`
     */
    async signIn(req, res, token) {
      requireSameOrigin(req, ANYBODY);
      if (!tokens.areSet) return ANYBODY;
      const known = await checkToken(req, res, token, signIns);
      if (!known.scopes.includes('read')) throw forbidden(res, 'read');
      const { value, ...session } = sessions.begin(known);
      res.cookie(COOKIE, value, { ...cookie, expires: new Date(session.endsAt) });
      return { by: 'session', ...session };
    },

    /** @param {Request} req @param {Response} res @throws {MillraceError} `forbidden` */
    signOut(req, res) {
      requireSameOrigin(req, ANYBODY);
      res.clearCookie(COOKIE, cookie);
    },
  };
}

/** @typedef {ReturnType<typeof createAccess>} Access */

/** Returns the password in the query parameter `p`, as clients of InfluxDB 1 send it. @param {Request} req @returns {string | null} */
const passwordOf = ({ query }) => (typeof query['p'] === 'string' ? query['p'] : null);

/**
 * Finds the origin of a request by the browser's headers. No page can set `Sec-Fetch-Site`. Browsers omit it without TLS, and
 * then `Origin` decides.
 *
 * @param {Request} req
 * @returns {'same' | 'cross' | 'unknown'} `same`: a page of this server; `cross`: a page of another server; `unknown`: no
 *   browser
 */
export function originOf(req) {
  const { origin } = req.headers;
  const site = req.get('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'cross';
  if (origin === undefined) return 'unknown';
  return URL.canParse(origin) && new URL(origin).host === req.host ? 'same' : 'cross';
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** @param {Request} req @returns {boolean} whether the method is not safe (RFC 9110, section 9.2.1) */
export const isUnsafe = (req) => !SAFE_METHODS.has(req.method);

/** Logs wrong tokens: one line per address and minute, and a second line when an address reaches the limit. */
class TokenNotices {
  #logger;
  #throttle;

  /** @param {{ logger: Logger, everyMs?: number }} options */
  constructor({ logger, everyMs }) {
    this.#logger = logger;
    this.#throttle = new LogThrottle({ everyMs });
  }

  /** Counts a wrong token. @param {string} address of the client */
  wrong(address) {
    const wrong = this.#throttle.count(`wrong ${address}`);
    if (wrong > 0) this.#logger.warn({ address, wrong }, 'a wrong token');
  }

  /** Counts a request above the limit of an address. @param {string} address of the client */
  tooMany(address) {
    const refused = this.#throttle.count(`too many ${address}`);
    if (refused > 0) this.#logger.warn({ address, refused }, 'too many wrong tokens; the client has to wait');
  }
}

/**
 * Prevents cross-site request forgery. A browser sends the cookie with requests from any page, and pages can also reach a server
 * that requires no token. So an unsafe request (any method that may change data) must not come from another origin. An unsafe
 * request of a session must come from the origin of this server.
 *
 * @param {Request} req
 * @param {Caller} caller
 * @throws {MillraceError} `forbidden`
 */
function requireSameOrigin(req, { by }) {
  if (by === 'token' || !isUnsafe(req)) return;
  const origin = originOf(req);
  if (origin === 'same' || (origin === 'unknown' && by !== 'session')) return;
  throw new MillraceError(
    'forbidden',
    'A request that changes something must come from a page of this origin.',
  );
}

/**
 * @param {Response} res
 * @param {string} message
 * @param {string} [error] a code of RFC 6750
 */
function unauthorized(res, message, error) {
  res.set('WWW-Authenticate', `Bearer realm="Millrace"${error ? `, error="${error}"` : ''}`);
  return new MillraceError('unauthorized', message);
}

/**
 * @param {Response} res
 * @param {Scope} scope the scope that the caller lacks
 */
function forbidden(res, scope) {
  res.set('WWW-Authenticate', `Bearer realm="Millrace", error="insufficient_scope", scope="${scope}"`);
  return new MillraceError('forbidden', `This needs a token of the scope ${scope}.`, { details: { scope } });
}

import { isLoopback } from '../../../common/addresses.js';
import { COOKIE, cookieOptions, cookiesOf } from './cookie.js';
import { createTokenNotices } from './notices.js';
import { createAttempts } from './rates.js';
import { demandOwnPage, forbidden, unauthorized } from './refusals.js';
import { SCOPES } from './scopes.js';
import { createSessions } from './sessions.js';
import { createTokens, shownToken } from './tokens.js';

/**
 * Who asks, and what he may do.
 *
 * @typedef {object} Caller
 * @property {'anybody' | 'nobody' | 'token' | 'session'} by `anybody`: no token is set; `nobody`: one is, and none was shown
 * @property {readonly import('./scopes.js').Scope[]} scopes
 * @property {number | null} endsAt of the session, in epoch ms
 *
 * @typedef {import('express').Request} Request
 * @typedef {import('express').Response} Response
 */

/** @type {Caller} */
const ANYBODY = { by: 'anybody', scopes: SCOPES, endsAt: null };
/** @type {Caller} */
const NOBODY = { by: 'nobody', scopes: [], endsAt: null };

/**
 * Who is let in to what: by a token in each request, or by a session that a token began.
 *
 * @param {object} parts
 * @param {Pick<import('../../../common/settings/index.js').Config['http'], 'host' | 'tls' | 'apiToken' | 'readTokens' | 'ingestTokens' | 'sessionMs'>} parts.settings
 * @param {string} parts.secret signs sessions
 * @param {import('./rates.js').Rate} parts.attempts wrong tokens of one address
 * @param {() => number} parts.clock epoch ms
 * @param {import('pino').Logger} parts.logger
 */
export function createAccess({ settings, secret, attempts, clock, logger }) {
  const cookie = cookieOptions(settings.tls !== null || !isLoopback(settings.host));
  const tokens = createTokens(settings);
  const sessions = createSessions({ secret, known: tokens.known, sessionMs: settings.sessionMs, clock });
  // Counted apart: a program with an old token must not keep people from signing in beside it.
  const requests = createAttempts(attempts);
  const signIns = createAttempts(attempts);
  const notices = createTokenNotices({ logger });

  /**
   * @param {Request} req @param {Response} res @param {string} given @param {import('./rates.js').Attempts} counted
   * @throws {MillraceError} `unauthorized`, `rate_limited`
   */
  async function knownBy(req, res, given, counted) {
    const known = tokens.find(given);
    if (known) return known;
    const address = req.ip ?? '';
    notices.wrong(address);
    try {
      await counted.count(req, res);
    } catch (error) {
      notices.tooMany(address);
      throw error;
    }
    throw unauthorized(res, 'The token is not one of those that are let in.', 'invalid_token');
  }

  /** @param {Request} req @param {Response} res @returns {Promise<Caller>} @throws {MillraceError} `unauthorized`, `rate_limited` */
  async function callerOf(req, res) {
    if (!tokens.areSet) return ANYBODY;
    const [session] = cookiesOf(req).flatMap((value) => sessions.open(value) ?? []);
    if (session) return { by: 'session', ...session };
    const given = shownToken(req.headers.authorization);
    if (given === null) return NOBODY;
    const { scopes } = await knownBy(req, res, given, requests);
    return { by: 'token', scopes, endsAt: null };
  }

  return {
    callerOf,

    /** Whether anybody has to show a token. */
    isRequired: tokens.areSet,

    /**
     * Lets in who has the scope. What he is goes into `res.locals.caller`.
     *
     * @param {'open' | import('./scopes.js').Scope} scope
     * @returns {import('express').RequestHandler}
     */
    guard: (scope) => async (req, res, next) => {
      if (scope === 'open') return next();
      const caller = await callerOf(req, res);
      if (caller.by === 'nobody') throw unauthorized(res, 'Show a token as a bearer, or sign in.');
      if (!caller.scopes.includes(scope)) throw forbidden(res, scope);
      demandOwnPage(req, caller);
      res.locals['caller'] = caller;
      next();
    },

    /**
     * Begins a session: the cookie is its only trace.
     *
     * @param {Request} req @param {Response} res @param {string} token
     * @returns {Promise<Caller>}
     * @throws {MillraceError} `unauthorized`, `forbidden`, `rate_limited`
     */
    async signIn(req, res, token) {
      demandOwnPage(req, ANYBODY);
      if (!tokens.areSet) return ANYBODY;
      const known = await knownBy(req, res, token, signIns);
      if (!known.scopes.includes('read')) throw forbidden(res, 'read');
      const { value, ...session } = sessions.begin(known);
      res.cookie(COOKIE, value, { ...cookie, expires: new Date(session.endsAt) });
      return { by: 'session', ...session };
    },

    /** @param {Request} req @param {Response} res @throws {MillraceError} `forbidden` */
    signOut(req, res) {
      demandOwnPage(req, ANYBODY);
      res.clearCookie(COOKIE, cookie);
    },
  };
}

/** @typedef {ReturnType<typeof createAccess>} Access */

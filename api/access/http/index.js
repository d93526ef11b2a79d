import { isLoopback } from '../../../common/addresses.js';
import { MillraceError } from '../../../common/errors.js';
import { createNoticeThrottle } from '../../observability/notice-throttle.js';
import { createAttempts } from './rates.js';
import { COOKIE, cookieOptions, cookiesOf, createSessions } from './sessions.js';
import { createTokens, SCOPES, shownToken } from './tokens.js';

/** @import { Request, RequestHandler, Response } from 'express' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Attempts, Rate } from './rates.js' */
/** @import { Scope } from './tokens.js' */

/**
 * Who asks, and what he may do.
 *
 * @typedef {object} Caller
 * @property {'anybody' | 'nobody' | 'token' | 'session'} by `anybody`: no token is set; `nobody`: one is, and none was shown
 * @property {readonly Scope[]} scopes
 * @property {number | null} endsAt of the session, in epoch ms
 */

/** @type {Caller} */
const ANYBODY = { by: 'anybody', scopes: SCOPES, endsAt: null };
/** @type {Caller} */
const NOBODY = { by: 'nobody', scopes: [], endsAt: null };

/**
 * Who is let in to what: by a token in each request, or by a session that a token began.
 *
 * @param {object} parts
 * @param {Pick<Config['http'], 'host' | 'tls' | 'apiToken' | 'readTokens' | 'ingestTokens' | 'sessionMs'>} parts.settings
 * @param {string} parts.secret signs sessions
 * @param {Rate} parts.attempts wrong tokens of one address
 * @param {() => number} parts.clock epoch ms
 * @param {Logger} parts.logger
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
   * @param {Request} req @param {Response} res @param {string} given @param {Attempts} counted
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
     * @param {'open' | Scope} scope
     * @returns {RequestHandler}
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

/**
 * Where a request comes from, as the browser says it: `Sec-Fetch-Site`, which no page can set, or where that is left out
 * (without encryption), `Origin`.
 *
 * @param {Request} req
 * @returns {'own' | 'foreign' | 'untold'} from a page of ours; of somebody else's; `untold`: from no browser
 */
export function originOf(req) {
  const { origin } = req.headers;
  const site = req.get('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin' ? 'own' : 'foreign';
  if (origin === undefined) return 'untold';
  return URL.canParse(origin) && new URL(origin).host === req.host ? 'own' : 'foreign';
}

const HARMLESS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** @param {Request} req */
export const changesSomething = (req) => !HARMLESS.has(req.method);

/**
 * Tells whoever reads the log who shows wrong tokens: a line a minute for each address, and one when it is told to wait.
 *
 * @param {{ logger: Logger, everyMs?: number }} parts
 */
function createTokenNotices({ logger, everyMs }) {
  const occurrences = createNoticeThrottle({ everyMs });

  return {
    /** @param {string} address that showed one */
    wrong(address) {
      const wrong = occurrences.count(`wrong ${address}`);
      if (wrong > 0) logger.warn({ address, wrong }, 'a wrong token');
    },

    /** @param {string} address that showed too many */
    tooMany(address) {
      const refused = occurrences.count(`too many ${address}`);
      if (refused > 0) logger.warn({ address, refused }, 'too many wrong tokens; told to wait');
    },
  };
}

/** @typedef {ReturnType<typeof createTokenNotices>} TokenNotices */

/**
 * A browser sends the cookie by itself, and reaches what no token protects, whatever page it shows. So what changes
 * something must not come from a page of somebody else's, and a session's must be known to come from ours.
 *
 * @param {Request} req
 * @param {Caller} caller
 * @throws {MillraceError} `forbidden`
 */
function demandOwnPage(req, { by }) {
  if (by === 'token' || !changesSomething(req)) return;
  const origin = originOf(req);
  if (origin === 'own' || (origin === 'untold' && by !== 'session')) return;
  throw new MillraceError('forbidden', 'What changes something must come from a page of this very origin.');
}

/**
 * @param {Response} res
 * @param {string} says
 * @param {string} [error] as RFC 6750 names it
 */
function unauthorized(res, says, error) {
  res.set('WWW-Authenticate', `Bearer realm="Millrace"${error ? `, error="${error}"` : ''}`);
  return new MillraceError('unauthorized', says);
}

/**
 * @param {Response} res
 * @param {Scope} scope that is needed
 */
function forbidden(res, scope) {
  res.set('WWW-Authenticate', `Bearer realm="Millrace", error="insufficient_scope", scope="${scope}"`);
  return new MillraceError('forbidden', `This needs a token of the scope ${scope}.`, { details: { scope } });
}

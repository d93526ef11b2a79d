import { createHmac } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { isLoopback } from '../../../common/addresses.ts';
import { MillraceError } from '../../../common/errors.ts';
import { LogThrottle } from '../../../common/log-throttle.ts';
import type { Config } from '../../../common/settings/config.ts';
import { type Attempts, createAttempts, type Rate } from './rate-limits.ts';
import { COOKIE, cookieOptions, cookiesOf, createSessions } from './sessions.ts';
import { createTokens, type KnownToken, readToken, SCOPES, type Scope, type Target } from './tokens.ts';

export { limitRequests } from './rate-limits.ts';
export { COOKIE } from './sessions.ts';
export { type BoundToken, SCOPES, type Scope, type Target } from './tokens.ts';

export interface Caller {
  /** `anybody`: no token is configured; `nobody`: the request has no token */
  by: 'anybody' | 'nobody' | 'token' | 'session';
  scopes: readonly Scope[];
  /** epoch ms; null: the caller has no session */
  endsAt: number | null;
  /** names the token without showing it; null: the request has no token */
  fingerprint: string | null;
  /** missing: the caller reaches the whole installation */
  reaches?: KnownToken['reaches'];
}

/** Reads from the address what a request touches. Empty: the whole installation. @throws `bad_id` */
export type TargetsOf = (req: Request) => Target[];

const ANYBODY: Caller = { by: 'anybody', scopes: SCOPES, endsAt: null, fingerprint: null };
const NOBODY: Caller = { by: 'nobody', scopes: [], endsAt: null, fingerprint: null };

export function createAccess({
  settings,
  secret,
  attempts,
  clock,
  logger,
}: {
  settings: Parameters<typeof createTokens>[0] & Pick<Config['http'], 'host' | 'tls' | 'sessionMs'>;
  secret: string;
  attempts: Rate;
  /** epoch ms */
  clock: () => number;
  logger: Logger;
}) {
  const cookie = cookieOptions(settings.tls !== null || !isLoopback(settings.host));
  const tokens = createTokens(settings);
  const sessions = createSessions({ secret, known: tokens.known, sessionMs: settings.sessionMs, clock });
  // Requests and logins are counted separately, because a program with an old token must not prevent logins from the same address.
  const requests = createAttempts(attempts);
  const signIns = createAttempts(attempts);
  const notices = new TokenNotices({ logger });

  /** By token, so that a request needs no HMAC. Only known tokens get here. */
  const fingerprints: Map<string, string> = new Map();

  // Keyed, so that a reader of the log cannot guess the token without a request.
  function fingerprintOf(token: string): string {
    let fingerprint = fingerprints.get(token);
    if (fingerprint === undefined) {
      fingerprint = createHmac('sha256', secret).update(`fingerprint ${token}`).digest('hex').slice(0, 8);
      fingerprints.set(token, fingerprint);
    }
    return fingerprint;
  }

  const callerWith = (by: 'token' | 'session', known: KnownToken, endsAt: number | null): Caller => ({
    by,
    scopes: known.scopes,
    endsAt,
    reaches: known.reaches,
    fingerprint: fingerprintOf(known.token),
  });

  async function checkToken(req: Request, res: Response, given: string, limiter: Attempts) {
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

  async function callerOf(
    req: Request,
    res: Response,
    { tokenInQuery = false }: { tokenInQuery?: boolean } = {},
  ): Promise<Caller> {
    if (!tokens.areSet) return ANYBODY;
    const [session] = cookiesOf(req).flatMap((value) => sessions.open(value) ?? []);
    if (session) return callerWith('session', session.known, session.endsAt);
    const given = readToken(req.headers.authorization) ?? (tokenInQuery ? passwordOf(req) : null);
    if (given === null) return NOBODY;
    return callerWith('token', await checkToken(req, res, given, requests), null);
  }

  return {
    callerOf,

    isRequired: tokens.areSet,

    /** Bound tokens are valid only next to a token that reaches everything, which makes tokens required. */
    bind: tokens.bind,

    /**
     * Stores the caller in `res.locals.caller`. `tokenInQuery`: the token may also be in the query parameter `p`. `targets`: what a bound
     * token must reach. Missing: the whole installation. `body`: the handler calls `requireReach`.
     */
    guard:
      (
        scope: 'open' | Scope,
        options: { tokenInQuery?: boolean; targets?: TargetsOf | 'body' } = {},
      ): RequestHandler =>
      async (req, res, next) => {
        if (scope === 'open') return next();
        const caller = await callerOf(req, res, options);
        if (caller.by === 'nobody') throw unauthorized(res, 'Show a token as a bearer, or sign in.');
        if (!caller.scopes.includes(scope)) throw forbidden(res, scope);
        requireSameOrigin(req, caller);
        res.locals['caller'] = caller;
        const { targets = () => [] } = options;
        if (caller.reaches && targets !== 'body') await requireReach(res, targets(req));
        next();
      },

    /** The server stores nothing: the cookie has the whole state. @throws `unauthorized`, `forbidden`, `rate_limited` */
    async signIn(req: Request, res: Response, token: string): Promise<Caller> {
      requireSameOrigin(req, ANYBODY);
      if (!tokens.areSet) return ANYBODY;
      const known = await checkToken(req, res, token, signIns);
      if (!known.scopes.includes('read')) throw forbidden(res, 'read');
      // The dashboard shows the whole installation.
      if (known.reaches) throw outOfReach(res);
      const { value, endsAt } = sessions.begin(known);
      res.cookie(COOKIE, value, { ...cookie, expires: new Date(endsAt) });
      return callerWith('session', known, endsAt);
    },

    /** @throws `forbidden` */
    signOut(req: Request, res: Response) {
      requireSameOrigin(req, ANYBODY);
      res.clearCookie(COOKIE, cookie);
    },
  };
}

export type Access = ReturnType<typeof createAccess>;

/** Clients of InfluxDB 1 send the token in `p`. */
const passwordOf = ({ query }: Request): string | null =>
  typeof query['p'] === 'string' ? query['p'] : null;

/** No page can set `Sec-Fetch-Site`. Browsers omit it without TLS, and then `Origin` decides. `unknown`: no browser. */
export function originOf(req: Request): 'same' | 'cross' | 'unknown' {
  const { origin } = req.headers;
  const site = req.get('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'cross';
  if (origin === undefined) return 'unknown';
  return URL.canParse(origin) && new URL(origin).host === req.host ? 'same' : 'cross';
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** RFC 9110, section 9.2.1 */
export const isUnsafe = (req: Request): boolean => !SAFE_METHODS.has(req.method);

/** One line per address and minute, and a second line when an address reaches the limit. */
class TokenNotices {
  #logger;
  #throttle;

  constructor({ logger, everyMs }: { logger: Logger; everyMs?: number }) {
    this.#logger = logger;
    this.#throttle = new LogThrottle({ everyMs });
  }

  wrong(address: string) {
    const wrong = this.#throttle.count(`wrong ${address}`);
    if (wrong > 0) this.#logger.warn({ address, wrong }, 'a wrong token');
  }

  tooMany(address: string) {
    const refused = this.#throttle.count(`too many ${address}`);
    if (refused > 0) this.#logger.warn({ address, refused }, 'too many wrong tokens; the client has to wait');
  }
}

/**
 * Prevents cross-site request forgery. A browser sends the cookie with requests from any page, and pages can also reach
 * a server that requires no token. So an unsafe request must not come from another origin, and one of a session must
 * come from this origin.
 */
function requireSameOrigin(req: Request, { by }: Caller) {
  if (by === 'token' || !isUnsafe(req)) return;
  const origin = originOf(req);
  if (origin === 'same' || (origin === 'unknown' && by !== 'session')) return;
  throw new MillraceError(
    'forbidden',
    'A request that changes something must come from a page of this origin.',
  );
}

/** For a parameter that needs a further scope than its route. @throws `forbidden` */
export function requireScope(res: Response, scope: Scope) {
  if (!(res.locals['caller'] as Caller).scopes.includes(scope)) throw forbidden(res, scope);
}

/** Checks a bound token. `targets` empty: the request touches the whole installation. @throws `forbidden`, `unavailable` */
export async function requireReach(res: Response, targets: Target[]) {
  const { reaches }: Caller = res.locals['caller'];
  if (reaches && !(targets.length > 0 && (await reaches(targets)))) throw outOfReach(res);
}

/** `error`: a code of RFC 6750 */
function unauthorized(res: Response, message: string, error?: string) {
  res.set('WWW-Authenticate', `Bearer realm="Millrace"${error ? `, error="${error}"` : ''}`);
  return new MillraceError('unauthorized', message);
}

function outOfReach(res: Response) {
  res.set('WWW-Authenticate', 'Bearer realm="Millrace", error="insufficient_scope"');
  return new MillraceError(
    'forbidden',
    'The token is bound to a part of the installation. This is not in it.',
  );
}

function forbidden(res: Response, scope: Scope) {
  res.set('WWW-Authenticate', `Bearer realm="Millrace", error="insufficient_scope", scope="${scope}"`);
  return new MillraceError('forbidden', `This needs a token of the scope ${scope}.`, { details: { scope } });
}

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** @import { CookieOptions, Request } from 'express' */
/** @import { Known, Scope } from './tokens.js' */

const FORMAT = /^(\d{1,16})\.([\w-]{43})$/;

/** @typedef {{ scopes: readonly Scope[], endsAt: number }} Session `endsAt`: epoch ms */

/**
 * Returns functions that begin and open stateless sessions. A session is its expiry time and a signature, with a key derived
 * from the token. So the session has the scopes of the token, every process with the same settings accepts it, and it ends when
 * the token is removed.
 *
 *     end in epoch ms . base64url( HMAC-SHA256(key, end) )     key = HKDF-SHA256(secret, salt: token)
 *
 * @param {object} deps
 * @param {string} deps.secret
 * @param {Known[]} deps.known
 * @param {number} deps.sessionMs
 * @param {() => number} deps.clock epoch ms
 */
export function createSessions({ secret, known, sessionMs, clock }) {
  const keyed = known.map(({ token, scopes }) => ({
    token,
    scopes,
    key: Buffer.from(hkdfSync('sha256', secret, token, 'millrace session', 32)),
  }));

  /** @param {Buffer} key @param {string} end */
  const sign = (key, end) => createHmac('sha256', key).update(end).digest();

  return {
    /**
     * @param {Known} by the token with which the user signed in
     * @returns {Session & { value: string }}
     */
    begin({ token }) {
      const { key, scopes } = /** @type {(typeof keyed)[number]} */ (
        keyed.find((candidate) => candidate.token === token)
      );
      const endsAt = clock() + sessionMs;
      return { scopes, endsAt, value: `${endsAt}.${sign(key, String(endsAt)).toString('base64url')}` };
    },

    /**
     * @param {string} value
     * @returns {Session | null} null: the signature is wrong, or the session has ended
     */
    open(value) {
      const [, end = '', signature = ''] = FORMAT.exec(value) ?? [];
      const given = Buffer.from(signature, 'base64url');
      if (given.length !== 32 || Number(end) <= clock()) return null;
      const same = keyed.map(({ key }) => timingSafeEqual(given, sign(key, end)));
      const match = keyed[same.indexOf(true)];
      return match ? { scopes: match.scopes, endsAt: Number(end) } : null;
    },
  };
}

/** @typedef {ReturnType<typeof createSessions>} Sessions */

export const COOKIE = 'millrace_session';

/**
 * Limit of session cookies of a request that are checked; further cookies are ignored. Each check computes one signature per
 * token, even for an unknown client.
 */
const MAX_COOKIES = 4;

/**
 * @param {Request} req
 * @returns {string[]} values of the first `MAX_COOKIES` session cookies; other services on the host may use the same cookie name
 */
export const cookiesOf = (req) =>
  (req.headers.cookie ?? '')
    .split(';')
    .flatMap((pair) => {
      const [name = '', value = ''] = pair.trim().split('=', 2);
      return name === COOKIE ? [value] : [];
    })
    .slice(0, MAX_COOKIES);

/**
 * Returns the options of the session cookie. Scripts cannot read the cookie, and requests from other sites do not carry it.
 *
 * @param {boolean} secure whether browsers send the cookie over TLS only
 * @returns {CookieOptions}
 */
export const cookieOptions = (secure) => ({ httpOnly: true, sameSite: 'strict', path: '/', secure });

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** @import { CookieOptions, Request } from 'express' */
/** @import { Known, Scope } from './tokens.js' */

const GENUINE = /^(\d{1,16})\.([\w-]{43})$/;

/** @typedef {{ scopes: readonly Scope[], endsAt: number }} Session `endsAt`: epoch ms */

/**
 * Sessions of people who showed a token once. Nothing of them is kept here: a session is its end and a signature, with a
 * key of its own for each token, so that it has the token's scopes, is known to every process that has the same settings, and
 * ends when the token is taken away.
 *
 *     end in epoch ms . base64url( HMAC-SHA256(key, end) )     key = HKDF-SHA256(secret, salt: token)
 *
 * @param {object} parts
 * @param {string} parts.secret
 * @param {Known[]} parts.known
 * @param {number} parts.sessionMs
 * @param {() => number} parts.clock epoch ms
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
     * @param {Known} by the token that was shown
     * @returns {Session & { value: string }}
     */
    begin({ token }) {
      const { key, scopes } = /** @type {(typeof keyed)[number]} */ (
        keyed.find((one) => one.token === token)
      );
      const endsAt = clock() + sessionMs;
      return { scopes, endsAt, value: `${endsAt}.${sign(key, String(endsAt)).toString('base64url')}` };
    },

    /**
     * @param {string} value
     * @returns {Session | null} null: it is none of ours, or has ended
     */
    open(value) {
      const [, end = '', signature = ''] = GENUINE.exec(value) ?? [];
      const given = Buffer.from(signature, 'base64url');
      if (given.length !== 32 || Number(end) <= clock()) return null;
      const same = keyed.map(({ key }) => timingSafeEqual(given, sign(key, end)));
      const one = keyed[same.indexOf(true)];
      return one ? { scopes: one.scopes, endsAt: Number(end) } : null;
    },
  };
}

/** @typedef {ReturnType<typeof createSessions>} Sessions */

export const COOKIE = 'millrace_session';

/** For each a signature is made with each token, for anybody who sends it. */
const MOST = 4;

/**
 * @param {Request} req
 * @returns {string[]} the first values under our name; other services of the same host may have left some
 */
export const cookiesOf = (req) =>
  (req.headers.cookie ?? '')
    .split(';')
    .flatMap((pair) => {
      const [name = '', value = ''] = pair.trim().split('=', 2);
      return name === COOKIE ? [value] : [];
    })
    .slice(0, MOST);

/**
 * No script reads it, and no page of another site has it sent.
 *
 * @param {boolean} secure whether it travels encrypted alone
 * @returns {CookieOptions}
 */
export const cookieOptions = (secure) => ({ httpOnly: true, sameSite: 'strict', path: '/', secure });

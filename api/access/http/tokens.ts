import { sameSecret } from '../../../common/timing-safe-equal.js';

/** @import { Config } from '../../../common/settings/config.js' */

/**
 * @typedef {{ token: string, scopes: readonly Scope[] }} Known a configured token and its scopes
 */

/**
 * Reads the configured tokens. With several tokens of one kind, the old and the new token are both valid during a rotation.
 *
 * @param {Pick<Config['http'], 'apiToken' | 'readTokens' | 'ingestTokens'>} settings
 */
export function createTokens({ apiToken, readTokens, ingestTokens }) {
  /** @type {Map<string, Set<Scope>>} */
  const scopesOf = new Map();
  /** @param {string} token @param {readonly Scope[]} scopes */
  const add = (token, scopes) => scopesOf.set(token, new Set([...(scopesOf.get(token) ?? []), ...scopes]));
  if (apiToken) add(apiToken, SCOPES);
  for (const token of readTokens) add(token, ['read']);
  for (const token of ingestTokens) add(token, ['ingest']);

  /** @type {Known[]} */
  const known = [...scopesOf].map(([token, scopes]) => ({ token, scopes: [...scopes] }));

  return {
    known,

    /** Whether any token is configured. */
    areSet: known.length > 0,

    /**
     * @param {string} given
     * @returns {Known | null}
     */
    find(given) {
      // Compare with all tokens, so that the duration does not reveal which token is similar.
      const same = known.map(({ token }) => sameSecret(given, token));
      return known[same.indexOf(true)] ?? null;
    },
  };
}

/** @typedef {ReturnType<typeof createTokens>} Tokens */

/**
 * Reads the token of a request. It accepts a bearer token (RFC 6750), the scheme `Token` of InfluxDB clients, or the password of
 * Basic (RFC 7617), which `curl -u` sends.
 *
 * @param {string | undefined} header value of the header `Authorization`
 * @returns {string | null} null: no token
 */
export function readToken(header) {
  if (!header) return null;
  const [, scheme = '', rest = ''] = /^(\S+) +(.*)$/.exec(header) ?? [];
  if (['bearer', 'token'].includes(scheme.toLowerCase())) return rest;
  if (scheme.toLowerCase() !== 'basic') return '';
  const pair = Buffer.from(rest, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

/**
 * Scopes of a token:
 *
 * - `read`: may read all data, and change nothing
 * - `ingest`: may send measurements
 * - `admin`: may manage devices, credentials, annotations and dead letters; the admin token has all scopes
 */
export const SCOPES = /** @type {const} */ (['read', 'ingest', 'admin']);

/** @typedef {(typeof SCOPES)[number]} Scope */

import { sameSecret } from '../../../common/same-secret.js';

/** @import { Config } from '../../../common/settings/config.js' */

/**
 * @typedef {{ token: string, scopes: readonly Scope[] }} Known a token that is let in, and what it is good for
 */

/**
 * The tokens that are let in. More than one of a kind lets them be changed one by one, while both are good.
 *
 * @param {Pick<Config['http'], 'apiToken' | 'readTokens' | 'ingestTokens'>} settings
 */
export function createTokens({ apiToken, readTokens, ingestTokens }) {
  /** @type {Map<string, Set<Scope>>} */
  const scopesOf = new Map();
  /** @param {string} token @param {readonly Scope[]} scopes */
  const letIn = (token, scopes) => scopesOf.set(token, new Set([...(scopesOf.get(token) ?? []), ...scopes]));
  if (apiToken) letIn(apiToken, SCOPES);
  for (const token of readTokens) letIn(token, ['read']);
  for (const token of ingestTokens) letIn(token, ['ingest']);

  /** @type {Known[]} */
  const known = [...scopesOf].map(([token, scopes]) => ({ token, scopes: [...scopes] }));

  return {
    known,

    /** Whether anybody has to show one. */
    areSet: known.length > 0,

    /**
     * @param {string} given
     * @returns {Known | null}
     */
    find(given) {
      // Each of them is looked at, whichever is the same: the time tells nothing.
      const same = known.map(({ token }) => sameSecret(given, token));
      return known[same.indexOf(true)] ?? null;
    },
  };
}

/** @typedef {ReturnType<typeof createTokens>} Tokens */

/**
 * The token that a request shows: as a bearer's (RFC 6750), or as the password of Basic (RFC 7617), for `curl -u`.
 *
 * @param {string | undefined} header `Authorization`
 * @returns {string | null} null: it shows none
 */
export function shownToken(header) {
  if (!header) return null;
  const [, scheme = '', rest = ''] = /^(\S+) +(.*)$/.exec(header) ?? [];
  if (scheme.toLowerCase() === 'bearer') return rest;
  if (scheme.toLowerCase() !== 'basic') return '';
  const pair = Buffer.from(rest, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

/**
 * What a token can be good for:
 *
 * - `read`: everything that was measured, refused and told; nothing changes by it
 * - `ingest`: measurements may be sent
 * - `admin`: devices, their credentials and what was refused are disposed of; with it goes all else
 */
export const SCOPES = /** @type {const} */ (['read', 'ingest', 'admin']);

/** @typedef {(typeof SCOPES)[number]} Scope */

import type { Config } from '../../../common/settings/config.ts';
import { sameSecret } from '../../../common/timing-safe-equal.ts';

/**
 * One thing that a request touches. Ids are those of the registry. A device stands for all of its sensors. `place`: as the request names it,
 * for the feature that knows places.
 */
export type Target = { device: string; sensor?: string } | { place: string };

/** A token that reaches a part of the installation. */
export interface BoundToken {
  token: string;
  scopes: readonly Scope[];
  /** whether the token reaches all of these now @throws `unavailable` */
  reaches: (targets: Target[]) => Promise<boolean>;
}

export type KnownToken = { token: string; scopes: readonly Scope[]; reaches?: BoundToken['reaches'] };

/** Several tokens of one kind are valid at once, for a rotation. */
export function createTokens({
  apiToken,
  readTokens,
  ingestTokens,
  correctTokens,
}: Pick<Config['http'], 'apiToken' | 'readTokens' | 'ingestTokens' | 'correctTokens'>) {
  const scopesOf: Map<string, Set<Scope>> = new Map();
  const add = (token: string, scopes: readonly Scope[]) =>
    scopesOf.set(token, new Set([...(scopesOf.get(token) ?? []), ...scopes]));
  if (apiToken) add(apiToken, SCOPES);
  for (const token of readTokens) add(token, ['read']);
  for (const token of ingestTokens) add(token, ['ingest']);
  for (const token of correctTokens) add(token, ['ingest', 'correct']);

  const known: KnownToken[] = [...scopesOf].map(([token, scopes]) => ({ token, scopes: [...scopes] }));
  const bound: BoundToken[] = [];

  return {
    /** without bound tokens */
    known,

    bind: (tokens: BoundToken[]) => void bound.push(...tokens),

    areSet: known.length > 0,

    find(given: string): KnownToken | null {
      // Compare with all tokens, so that the duration does not reveal which token is similar.
      const all: KnownToken[] = [...known, ...bound];
      const same = all.map(({ token }) => sameSecret(given, token));
      return all[same.indexOf(true)] ?? null;
    },
  };
}

/**
 * Accepts a bearer token (RFC 6750), the scheme `Token` of InfluxDB clients, or the password of Basic (RFC 7617), which
 * `curl -u` sends.
 */
export function readToken(header: string | undefined): string | null {
  if (!header) return null;
  const [, scheme = '', rest = ''] = /^(\S+) +(.*)$/.exec(header) ?? [];
  if (['bearer', 'token'].includes(scheme.toLowerCase())) return rest;
  if (scheme.toLowerCase() !== 'basic') return '';
  const pair = Buffer.from(rest, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

/** `admin` includes the other scopes. A token of the scope `correct` may also send, because a replacement is sent. */
export const SCOPES = ['read', 'ingest', 'correct', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

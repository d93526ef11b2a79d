import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { CookieOptions, Request } from 'express';
import type { KnownToken } from './tokens.ts';

const FORMAT = /^(\d{1,16})\.([\w-]{43})$/;

/** `endsAt`: epoch ms */
type Session = { known: KnownToken; endsAt: number };

/**
 * A session has the scopes of its token, is valid at every process with the same settings, and ends when the token is
 * removed.
 *
 *     end in epoch ms . base64url( HMAC-SHA256(key, end) )     key = HKDF-SHA256(secret, salt: token)
 */
export function createSessions({
  secret,
  known,
  sessionMs,
  clock,
}: {
  secret: string;
  known: KnownToken[];
  sessionMs: number;
  /** epoch ms */
  clock: () => number;
}) {
  const keyed = known.map((one) => ({
    known: one,
    key: Buffer.from(hkdfSync('sha256', secret, one.token, 'millrace session', 32)),
  }));

  const sign = (key: Buffer, end: string) => createHmac('sha256', key).update(end).digest();

  return {
    begin(known: KnownToken): Session & { value: string } {
      const { key } = keyed.find(
        (candidate) => candidate.known.token === known.token,
      ) as (typeof keyed)[number];
      const endsAt = clock() + sessionMs;
      return { known, endsAt, value: `${endsAt}.${sign(key, String(endsAt)).toString('base64url')}` };
    },

    /** Returns null if the signature is wrong, or the session has ended. */
    open(value: string): Session | null {
      const [, end = '', signature = ''] = FORMAT.exec(value) ?? [];
      const given = Buffer.from(signature, 'base64url');
      if (given.length !== 32 || Number(end) <= clock()) return null;
      const same = keyed.map(({ key }) => timingSafeEqual(given, sign(key, end)));
      const match = keyed[same.indexOf(true)];
      return match ? { known: match.known, endsAt: Number(end) } : null;
    },
  };
}

export const COOKIE = 'millrace_session';

/** Each check computes one signature per token, even for an unknown client. */
const MAX_COOKIES = 4;

/** Several, because other services on the host may use the same cookie name. */
export const cookiesOf = (req: Request): string[] =>
  (req.headers.cookie ?? '')
    .split(';')
    .flatMap((pair) => {
      const [name = '', value = ''] = pair.trim().split('=', 2);
      return name === COOKIE ? [value] : [];
    })
    .slice(0, MAX_COOKIES);

export const cookieOptions = (secure: boolean): CookieOptions => ({
  httpOnly: true,
  sameSite: 'strict',
  path: '/',
  secure,
});

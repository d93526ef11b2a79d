import { afterEach, expect, test } from '@jest/globals';
import { cookieOptions, cookiesOf } from '../../../../api/access/http/sessions.ts';
import { type HttpApp, startHttpApp, TOKENS } from '../../../support/http/app.ts';

const [READER = ''] = TOKENS.readTokens;
const FILES = { cert: 'certificate.pem', key: 'key.pem' } as never;

let app: HttpApp | undefined;
afterEach(async () => {
  await app?.stop();
  app = undefined;
});

/** Signs a client in and out. @returns both Set-Cookie headers */
async function cookiesSet(options?: Parameters<typeof startHttpApp>[0]): Promise<string[]> {
  app = await startHttpApp(options);
  const cookies = [];
  for (const [method, body] of [
    ['POST', JSON.stringify({ token: READER })],
    ['DELETE', undefined],
  ] as const) {
    const headers = { 'content-type': 'application/json' };
    const answer = await app.send('/api/v1/session', { method, headers, body });
    expect([200, 204]).toContain(answer.status);
    cookies.push(...(answer.headers['set-cookie'] ?? []));
  }
  return cookies;
}

test.each([
  ['TLS on loopback', true, { tls: FILES, host: '127.0.0.1' }],
  ['TLS beyond loopback', true, { tls: FILES, host: '0.0.0.0' }],
  ['a proxy with TLS in front', true, { tls: null, host: '0.0.0.0' }],
  ['loopback without TLS', false, { tls: null, host: '127.0.0.1' }],
  ['localhost without TLS', false, { tls: null, host: 'localhost' }],
])('Session cookie: %s: the attribute Secure is set: %p', async (_, isSecure, settings) => {
  const cookies = await cookiesSet({ settings: { ...TOKENS, ...settings } });
  expect(cookies).toHaveLength(2);
  for (const cookie of cookies) expect(/; Secure(;|$)/.test(cookie)).toBe(isSecure);
});

test('Session cookie: attributes: HttpOnly, SameSite=Strict, and Expires at the end of the session', async () => {
  const now = Date.parse('2026-11-22T12:00:00.000Z');
  const [begun, ended] = await cookiesSet({ settings: TOKENS, clock: () => now });
  expect(begun).toMatch(
    /^millrace_session=\d+\.[\w-]{43}; Path=\/; Expires=Sun, 22 Nov 2026 13:00:00 GMT; HttpOnly; SameSite=Strict$/,
  );
  expect(ended).toBe(
    'millrace_session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Strict',
  );
  expect(cookieOptions(true)).toEqual({ httpOnly: true, sameSite: 'strict', path: '/', secure: true });
});

test.each([
  [undefined, []],
  ['', []],
  ['millrace_session=a', ['a']],
  ['other=1; millrace_session=a; more=2', ['a']],
  ['other=1;millrace_session=a', ['a']],
  ['millrace_session=a; millrace_session=b', ['a', 'b']],
  ['millrace_session', ['']],
  ['millrace_sessions=a; xmillrace_session=b; Millrace_Session=c', []],
  ['a=millrace_session=b', []],
  [
    'millrace_session=1; millrace_session=2; millrace_session=3; millrace_session=4; millrace_session=5',
    ['1', '2', '3', '4'],
  ],
])('Cookie header %j: the session cookies in it are %j', (cookie, values) => {
  expect(cookiesOf({ headers: { cookie } } as never)).toEqual(values);
});

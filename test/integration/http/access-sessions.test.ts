import { describe, expect, test } from '@jest/globals';
import { expectProblem, send } from '../../support/http/index.ts';
import { startTestSystem } from '../../support/system/index.ts';
import { useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

const ADMIN = 'the token that is good for everything';
const READER = 'the-token-of-a-reader';
const SENDER = 'the-token-of-a-sender';
const HOUR_MS = 3_600_000;

const settings = {
  API_TOKEN: ADMIN,
  READ_TOKENS: READER,
  INGEST_TOKENS: SENDER,
  TRUST_PROXY: '1',
  CURSOR_SECRET: 'the same in all processes',
};

let ahead = 0;

const system = useTestSystem({ settings, clock: () => Date.now() + ahead });

/** The headers of a request from a page of the dashboard. */
const ownPage = (): Record<string, string> => ({ 'sec-fetch-site': 'same-origin' });

let addresses = 0;
const elsewhere = () => `192.0.2.${++addresses}`;

const signIn = (token: string, headers: Record<string, string> = {}) =>
  send(system.httpUrl, '/api/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.1', ...headers },
    body: JSON.stringify({ token }),
  });

/** @returns for the header Cookie */
async function sessionOf(token: string): Promise<string> {
  const [cookie = ''] = (await signIn(token)).headers['set-cookie'] ?? [];
  return String(cookie.split(';', 1)[0]);
}

async function whoIs(cookie: string, origin: string = system.httpUrl) {
  return JSON.parse((await send(origin, '/api/v1/session', { headers: { cookie } })).text);
}

test('Dashboard session: sign-in with a read token: sets an HttpOnly, SameSite cookie, and the answer has the scope read', async () => {
  const { status, headers, text } = await signIn(READER);
  const [cookie = ''] = headers['set-cookie'] ?? [];
  expect(status).toBe(200);
  expect(cookie).toMatch(
    /^millrace_session=\d+\.[\w-]{43}; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Strict$/,
  );
  const { required, scopes, ends_at } = JSON.parse(text);
  expect([required, scopes]).toEqual([true, ['read']]);
  expect(Math.abs(Date.parse(ends_at) - Date.now() - 12 * HOUR_MS)).toBeLessThan(60_000);
  expect(await whoIs(String(cookie.split(';', 1)[0]))).toEqual({ required, scopes, ends_at });
  expect(text + cookie).not.toContain(READER);
});

test('Dashboard session: sign-in with a read token: reads are served, and DELETE answers 403', async () => {
  const cookie = await sessionOf(READER);
  const headers = { cookie, ...ownPage() };
  expect((await send(system.httpUrl, '/api/v1/latest', { headers })).status).toBe(200);
  const retired = await send(system.httpUrl, '/api/v1/devices/x', { method: 'DELETE', headers });
  expectProblem(retired, 403, 'forbidden');
});

test('Dashboard session: cookie is changed, badly signed or expired: the request answers 401', async () => {
  const cookie = await sessionOf(ADMIN);
  const [, end = '', signature = ''] = /=(\d+)\.(.+)/.exec(cookie) ?? [];
  const nobody = { required: true, scopes: [], ends_at: null };
  const swapped = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
  for (const value of [
    `${Number(end) + 1}.${signature}`,
    `${end}.${swapped}`,
    `${end}.`,
    end,
    '',
    '.',
    `0${end}.${signature}`,
  ]) {
    expect(await whoIs(`millrace_session=${value}`)).toEqual(nobody);
  }
  expect((await whoIs(`other=1; ${cookie}; millrace_session=x`)).scopes).toContain('admin');
  ahead += 12 * HOUR_MS;
  expect(await whoIs(cookie)).toEqual(nobody);
  const answer = await send(system.httpUrl, '/api/v1/latest', { headers: { cookie } });
  expectProblem(answer, 401, 'unauthorized');
});

test('Dashboard session: more than four session cookies: only four are checked, because each costs a signature', async () => {
  const cookie = await sessionOf(READER);
  const other = `millrace_session=${Date.now() + HOUR_MS + ahead}.${'A'.repeat(43)}; `;
  expect((await whoIs(other.repeat(3) + cookie)).scopes).toEqual(['read']);
  expect((await whoIs(other.repeat(4) + cookie)).scopes).toEqual([]);
});

test('Dashboard session: another process with the same settings: accepts the cookie, until the token of the session is removed', async () => {
  const cookie = await sessionOf(READER);
  const start = (changed: Record<string, string>) =>
    startTestSystem({
      settings: { ...settings, CQL_KEYSPACE: system.config.cql.keyspace, ...changed },
      clock: () => Date.now() + ahead,
    });
  const [same, without] = await Promise.all([
    start({}),
    start({ READ_TOKENS: 'the-next-token-of-a-reader' }),
  ]);
  try {
    expect((await whoIs(cookie, same.httpUrl)).scopes).toEqual(['read']);
    expect((await whoIs(cookie, without.httpUrl)).scopes).toEqual([]);
  } finally {
    await Promise.all([same.halt(), without.halt()]);
  }
});

test('Dashboard session: sign-out: answers 204 with an expired cookie', async () => {
  const cookie = await sessionOf(READER);
  const headers = { cookie, ...ownPage() };
  const answer = await send(system.httpUrl, '/api/v1/session', { method: 'DELETE', headers });
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect(answer.headers['set-cookie']?.[0]).toMatch(/^millrace_session=; Path=\/; Expires=Thu, 01 Jan 1970/);
});

test('Dashboard session: sign-in with a token without scope read, or a malformed body: refused', async () => {
  const refused = await signIn(SENDER);
  expect(expectProblem(refused, 403, 'forbidden')).toMatchObject({ scope: 'read' });
  expect(refused.headers['set-cookie']).toBeUndefined();
  for (const body of ['', '{}', '{"token":1}', '{"token":""}', '{"token":"x","more":1}', 'token=x']) {
    const headers = { 'content-type': 'application/json' };
    const answer = await send(system.httpUrl, '/api/v1/session', { method: 'POST', headers, body });
    expectProblem(answer, 400, 'malformed');
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await send(system.httpUrl, '/api/v1/session', {
    method: 'POST',
    headers: form,
    body: 'token=x',
  });
  expectProblem(answer, 415, 'unknown_format');
  const large = await signIn('x'.repeat(40_000));
  expectProblem(large, 413, 'too_large');
});

test('Dashboard session: expires while a stream is open: the stream ends', async () => {
  let cookie = '';
  // On a busy machine the session may end before its stream begins.
  const response = await until(async () => {
    cookie = await sessionOf(READER);
    ahead += 12 * HOUR_MS - 1500;
    const answer = await fetch(`${system.httpUrl}/api/v1/stream`, { headers: { cookie } });
    return answer.status === 200 ? answer : null;
  });
  // Without the expiry this stream would never end.
  await response.text();
  expect(await whoIs(cookie)).toMatchObject({ scopes: [] });
});

describe('Requests that change data', () => {
  const device = '/api/v1/devices/nobody';

  test.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another origin of this site', { 'sec-fetch-site': 'same-site' }],
    ['of another origin, in an old browser', { origin: 'http://evil.example' }],
    ['with the origin null', { origin: 'null' }],
    ['without an Origin header', {}],
  ])(
    'Dashboard session: DELETE from a page %s: answers 403',
    async (_name, headers: Record<string, string>) => {
      const cookie = await sessionOf(ADMIN);
      const answer = await send(system.httpUrl, device, {
        method: 'DELETE',
        headers: { cookie, ...headers },
      });
      expectProblem(answer, 403, 'forbidden');
    },
  );

  test('Requests that change data: session cookie from a page of this origin, or token from any page: accepted', async () => {
    const cookie = await sessionOf(ADMIN);
    const { host } = new URL(system.httpUrl);
    const good: Record<string, string>[] = [
      { cookie, ...ownPage() },
      { cookie, origin: `http://${host}`, host },
      { authorization: `Bearer ${ADMIN}`, 'sec-fetch-site': 'cross-site', origin: 'http://a.example' },
    ];
    for (const headers of good) {
      expectProblem(await send(system.httpUrl, device, { method: 'DELETE', headers }), 404, 'not_found');
    }
  });

  test('Dashboard session: sign-in from a page of another origin: answers 403 without a cookie', async () => {
    const answer = await signIn(ADMIN, { 'sec-fetch-site': 'cross-site' });
    expectProblem(answer, 403, 'forbidden');
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe('Wrong tokens', () => {
  const sendToken = (from: string, token = 'wrong token') =>
    send(system.httpUrl, '/api/v1/latest', {
      headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': from },
    });

  test('Wrong tokens: more than ten a minute from an address: 429; right tokens are still served', async () => {
    const from = elsewhere();
    for (let count = 0; count < 10; count++) expectProblem(await sendToken(from), 401, 'unauthorized');
    for (let count = 0; count < 3; count++) {
      const answer = await sendToken(from, `wrong ${count}`);
      expectProblem(answer, 429, 'rate_limited');
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
      // Other clients behind the same router are still served.
      for (const token of [ADMIN, READER]) expect((await sendToken(from, token)).status).toBe(200);
    }
    expectProblem(await sendToken(elsewhere()), 401, 'unauthorized');
    const cookie = await sessionOf(READER);
    const headers = { cookie, 'x-forwarded-for': from };
    expect((await send(system.httpUrl, '/api/v1/latest', { headers })).status).toBe(200);
  });

  test('Wrong tokens: sent to the sign-in: counted separately from other requests', async () => {
    const from = { 'x-forwarded-for': elsewhere() };
    for (let count = 0; count < 10; count++)
      expectProblem(await signIn('wrong token', from), 401, 'unauthorized');
    expectProblem(await signIn('wrong token', from), 429, 'rate_limited');
    expectProblem(await sendToken(from['x-forwarded-for']), 401, 'unauthorized');
    expect((await signIn(ADMIN, from)).status).toBe(200);
  });
});

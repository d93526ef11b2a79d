import { expect, test } from '@jest/globals';
import { startHttpApp, TOKENS, useHttpApp } from '../../../support/http/app.ts';

const NOW = 1_795_000_000_000;
const ADMIN = TOKENS.apiToken;
const [READER = ''] = TOKENS.readTokens;
const [SENDER = ''] = TOKENS.ingestTokens;

let now = NOW;
const guarded = useHttpApp({ settings: TOKENS, clock: () => now });
const open = useHttpApp();

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

const signIn = (token: string, headers: Record<string, string> = {}) =>
  guarded.send('/api/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ token }),
  });

async function sessionOf(token: string): Promise<{ cookie: string }> {
  const { headers } = await signIn(token);
  return { cookie: String(headers['set-cookie']?.[0]?.split(';', 1)[0]) };
}

const ask = (headers: Record<string, string>, method: string = 'GET') =>
  guarded.send('/api/v1/caller', { method, headers });

test.each([
  ['read', READER, { GET: 200, POST: 403, DELETE: 403 }],
  ['ingest', SENDER, { GET: 403, POST: 200, DELETE: 403 }],
  ['admin', ADMIN, { GET: 200, POST: 200, DELETE: 200 }],
])('Scopes: token of the scope %s: requests of other scopes get 403', async (_, token, statuses) => {
  for (const [method, status] of Object.entries(statuses)) {
    expect([method, (await ask(bearer(token), method)).status]).toEqual([method, status]);
  }
});

test('Scopes: the token lacks a scope: the 403 response names the scope', async () => {
  const answer = await ask(bearer(READER), 'DELETE');
  expect(JSON.parse(answer.text)).toMatchObject({ code: 'forbidden', scope: 'admin' });
  expect(answer.headers['www-authenticate']).toBe(
    'Bearer realm="Millrace", error="insufficient_scope", scope="admin"',
  );
});

test('Scopes: request without a token: 401 with a Bearer challenge', async () => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    const { status, headers } = await ask({}, method);
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="Millrace"']);
  }
});

test('Scopes: no token is set in the settings: every request is allowed, even with a wrong token', async () => {
  for (const headers of [{}, bearer('wrong')]) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      expect((await open.send('/api/v1/caller', { method, headers })).status).toBe(200);
    }
  }
});

test('Session: signed in with a token: the session has the scopes of this token until the session ends, then 401', async () => {
  const session = await sessionOf(READER);
  expect(JSON.parse((await ask(session)).text)).toEqual({
    by: 'session',
    scopes: ['read'],
    endsAt: NOW + 3_600_000,
    fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
  });
  expect((await ask({ ...session, ...OWN_PAGE }, 'DELETE')).status).toBe(403);
  now += 3_600_000;
  expect((await ask(session)).status).toBe(401);
  now = NOW;
});

test('Session: valid cookie after invalid ones: found after three, not after four', async () => {
  const { cookie } = await sessionOf(READER);
  const other = `millrace_session=${NOW + 1}.${'A'.repeat(43)}; `;
  expect((await ask({ cookie: other.repeat(3) + cookie })).status).toBe(200);
  expect((await ask({ cookie: other.repeat(4) + cookie })).status).toBe(401);
});

test('Session: sign-in with a token without the scope read: 403, and no cookie is set', async () => {
  const answer = await signIn(SENDER);
  expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined]);
  expect(JSON.parse(answer.text)).toMatchObject({ scope: 'read' });
});

test('Session: no token is set in the settings: sign-in is not required and sets no cookie', async () => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ token: 'any' });
  const answer = await open.send('/api/v1/session', { method: 'POST', headers, body });
  expect([answer.status, answer.headers['set-cookie']]).toEqual([200, undefined]);
  expect(JSON.parse(answer.text)).toMatchObject({
    required: false,
    scopes: ['read', 'ingest', 'correct', 'admin'],
  });
});

/** Headers of a request, by the page that sent it. */
const ORIGINS: Array<[from: string, headers: Record<string, string>, origin: 'same' | 'cross' | 'unknown']> =
  [
    ['a page of ours', { 'sec-fetch-site': 'same-origin' }, 'same'],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 'cross'],
    ['another origin of this site', { 'sec-fetch-site': 'same-site' }, 'cross'],
    ['the address bar', { 'sec-fetch-site': 'none' }, 'cross'],
    [
      'another site whose Origin looks like ours',
      { 'sec-fetch-site': 'cross-site', origin: 'http://ours' },
      'cross',
    ],
    ['an old browser, our page', { origin: 'http://ours' }, 'same'],
    ['an old browser, another page', { origin: 'http://evil.example' }, 'cross'],
    ['an old browser, another port', { origin: 'http://ours:81' }, 'cross'],
    ['an old browser, a page that hides itself', { origin: 'null' }, 'cross'],
    ['no browser', {}, 'unknown'],
  ];

test.each(ORIGINS)(
  'Origin check: DELETE with a session from %s: only the own page gets 200',
  async (_, headers, origin) => {
    const remote = await startHttpApp({ settings: { ...TOKENS, host: '0.0.0.0' }, clock: () => now });
    try {
      const session = await sessionOf(ADMIN);
      const sent = { ...session, ...headers, host: 'ours' };
      const { status } = await remote.send('/api/v1/caller', { method: 'DELETE', headers: sent });
      expect(status).toBe(origin === 'same' ? 200 : 403);
      // Reading changes nothing, and a page of another origin cannot read the response.
      expect((await remote.send('/api/v1/caller', { headers: sent })).status).toBe(200);
    } finally {
      await remote.stop();
    }
  },
);

test.each(ORIGINS)(
  'Origin check: no token is set in the settings, DELETE from %s: another origin gets 403',
  async (_, headers, origin) => {
    const remote = await startHttpApp({ settings: { host: '0.0.0.0' } });
    try {
      const sent = { ...headers, host: 'ours' };
      const { status } = await remote.send('/api/v1/caller', { method: 'DELETE', headers: sent });
      expect(status).toBe(origin === 'cross' ? 403 : 200);
    } finally {
      await remote.stop();
    }
  },
);

test('Sign-in: request from a page of another site: 403, and no cookie is set', async () => {
  const answer = await signIn(READER, { 'sec-fetch-site': 'cross-site' });
  expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined]);
});

test('Sign-out: request from a page of another site: 403, and the session cookie is not removed', async () => {
  const session = await sessionOf(READER);
  for (const app of [guarded, open]) {
    const headers = { ...session, 'sec-fetch-site': 'cross-site' };
    const answer = await app.send('/api/v1/session', { method: 'DELETE', headers });
    expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined]);
    const own = await app.send('/api/v1/session', {
      method: 'DELETE',
      headers: { ...session, ...OWN_PAGE },
    });
    expect(own.status).toBe(204);
  }
});

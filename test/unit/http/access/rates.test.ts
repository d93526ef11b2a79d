import { afterEach, expect, test } from '@jest/globals';
import { type HttpApp, startHttpApp, TOKENS } from '../../../support/http/app.ts';

const [READER = ''] = TOKENS.readTokens;

let running: HttpApp | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(options: Parameters<typeof startHttpApp>[0]) {
  running = await startHttpApp(options);
  const app = running;
  return {
    app,

    /** @param address client address that the proxy reports */
    show: (token: string, address: string = '192.0.2.1') =>
      app.send('/api/v1/caller', {
        headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': address },
      }),

    signIn: (token: string, address: string = '192.0.2.1') =>
      app.send('/api/v1/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ token }),
      }),
  };
}

const BEHIND_PROXY = { ...TOKENS, trustProxy: 1 };

test('Wrong tokens: the eleventh wrong token of an IP address: 429, valid tokens and other addresses are not limited', async () => {
  const { show } = await start({ settings: BEHIND_PROXY });
  for (let count = 0; count < 10; count++) expect((await show(`guess ${count}`)).status).toBe(401);
  const { status, headers, text } = await show('guess 10');
  expect([status, JSON.parse(text).code]).toEqual([429, 'rate_limited']);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  expect((await show(READER)).status).toBe(200);
  expect((await show('guess', '192.0.2.2')).status).toBe(401);
});

test('Wrong tokens: valid tokens, sessions, requests without a token: not counted', async () => {
  const { app, show, signIn } = await start({
    settings: BEHIND_PROXY,
    attempts: { most: 1, windowMs: 60_000 },
  });
  const { headers } = await signIn(READER);
  const cookie = String(headers['set-cookie']?.[0]?.split(';', 1)[0]);
  const from = { 'x-forwarded-for': '192.0.2.1' };
  for (let count = 0; count < 3; count++) {
    expect((await show(READER)).status).toBe(200);
    expect((await app.send('/api/v1/caller', { headers: from })).status).toBe(401);
    const both = { ...from, cookie, authorization: 'Bearer guess' };
    expect((await app.send('/api/v1/caller', { headers: both })).status).toBe(200);
  }
  expect((await show('guess')).status).toBe(401);
});

async function isLimited(app: HttpApp, path: string, headers?: Record<string, string>): Promise<boolean> {
  const statuses = [];
  for (let count = 0; count < 21; count++) statuses.push((await app.send(path, { headers })).status);
  return statuses.includes(429);
}

test('Rate limit: an address sends eleven requests: ten are served, the last gets 429, other addresses are served', async () => {
  const { app } = await start({ settings: { trustProxy: 1, requestsPerSecond: 1 } });
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  for (let count = 0; count < 10; count++) {
    expect((await app.send('/api/v1/caller', from('192.0.2.1'))).status).toBe(200);
  }
  expect((await app.send('/api/v1/caller', from('192.0.2.1'))).status).toBe(429);
  expect((await app.send('/api/v1/caller', from('203.0.113.1, 192.0.2.1'))).status).toBe(429);
  expect((await app.send('/api/v1/caller', from('192.0.2.2'))).status).toBe(200);
});

test.each([
  ['/healthz', false],
  ['/readyz', false],
  ['/metrics', false],
  ['/assets/main.js', false],
  ['/mark.svg', false],
  ['/api/v1/caller', true],
  ['/', true],
  ['/openapi.json', true],
  ['/nothing', true],
  ['/assets', true],
  ['/assets/', true],
  ['/healthz/more', true],
  ['/api/v1/healthz', true],
  ['/api/v1/caller?x=/healthz', true],
])('Rate limit: requests for path %s are limited: %p', async (path, expected) => {
  const { app } = await start({ settings: { trustProxy: 1, requestsPerSecond: 1 } });
  expect(await isLimited(app, path, { 'x-forwarded-for': '192.0.2.1' })).toBe(expected);
});

const LOCAL = {};
const ELSEWHERE = { 'x-forwarded-for': '192.0.2.1' };
const TOKEN = { authorization: `Bearer ${READER}` };
test.each([
  ['this machine, no tokens, no proxy', false, {}, LOCAL],
  ['this machine, tokens', true, TOKENS, { ...LOCAL, ...TOKEN }],
  ['this machine, a proxy is trusted and sends no header', true, { trustProxy: 1 }, LOCAL],
  ['a proxy of this machine that is not trusted', true, {}, ELSEWHERE],
  ['an address that a trusted proxy reports', true, { trustProxy: 1 }, ELSEWHERE],
])(
  'Rate limit: requests of %s are limited: %p',
  async (_, expected, settings, headers: Record<string, string>) => {
    const { app } = await start({ settings: { requestsPerSecond: 1, ...settings } });
    expect(await isLimited(app, '/api/v1/caller', headers)).toBe(expected);
  },
);

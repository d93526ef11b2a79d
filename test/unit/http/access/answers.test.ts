import { createServer } from 'node:http';
import { expect, jest, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import express from 'express';
import pino from 'pino';
import { createAccess } from '../../../../api/access/http/index.ts';
import { limitRequests } from '../../../../api/access/http/rate-limits.ts';
import { createSessions } from '../../../../api/access/http/sessions.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { TOKENS } from '../../../support/http/app.ts';
import { send } from '../../../support/http/index.ts';
import { listening } from '../../../support/http/listening.ts';

const NOW = 1_795_000_000_000;
const [READER = ''] = TOKENS.readTokens;

const afterwards = useCleanUps();

async function startHandler(handler: RequestHandler, { trustProxy = 1 }: { trustProxy?: number } = {}) {
  const app = express();
  app.set('trust proxy', trustProxy);
  app.use(handler, (_req, res) => void res.json(res.locals['caller'] ?? null));
  const onError: express.ErrorRequestHandler<unknown, unknown> = (
    { code, message, details },
    _req,
    res,
    _next,
  ) => {
    res.status(418).json({ code, message, details });
  };
  app.use(onError);
  const server = createServer(app);
  const port = await listening(server);
  afterwards(() => new Promise((resolve) => server.close(resolve)));
  return (path: string, headers: Record<string, string> = {}) =>
    send(`http://127.0.0.1:${port}`, path, { headers, isReader: false });
}

const accessOf = (tokens: Partial<typeof TOKENS> = TOKENS) =>
  createAccess({
    settings: {
      host: '127.0.0.1',
      tls: null,
      sessionMs: 1000,
      apiToken: undefined,
      readTokens: [],
      ingestTokens: [],
      correctTokens: [],
      ...tokens,
    },
    secret: 'a secret',
    attempts: { most: 10, windowMs: 60_000 },
    clock: () => NOW,
    logger: pino({ level: 'silent' }),
  });

test('Token in the query: route with tokenInQuery: the query parameter p is read as the token', async () => {
  const app = await startHandler(accessOf().guard('read', { tokenInQuery: true }));
  expect(JSON.parse((await app(`/?p=${READER}`)).text)).toMatchObject({ by: 'token' });
  expect((await app('/?p=wrong')).text).toContain('The token is not valid.');
  expect((await app('/')).text).toContain('Show a token as a bearer, or sign in.');
});

test('Token in the query: the query parameter p appears twice: the token is not read', async () => {
  const app = await startHandler(accessOf().guard('read', { tokenInQuery: true }));
  expect((await app(`/?p=${READER}&p=${READER}`)).text).toContain('Show a token');
});

test('Token in the query: Authorization header has a token too: the token of the header is used', async () => {
  const app = await startHandler(accessOf().guard('read', { tokenInQuery: true }));
  const headers = { authorization: `Bearer ${READER}` };
  expect(JSON.parse((await app('/?p=wrong', headers)).text)).toMatchObject({ by: 'token' });
});

test.each([
  ['no options', undefined],
  ['other options', {}],
])('Token in the query: route with %s, not tokenInQuery: the token is not read', async (_, options) => {
  const app = await startHandler(accessOf().guard('read', options));
  expect((await app(`/?p=${READER}`)).text).toContain('Show a token');
});

const LIMIT = { most: 1, windowMs: 20_000 };
const NOT_LOCAL = { 'x-forwarded-for': '192.0.2.1' };

const startLimited = (
  options: Parameters<typeof limitRequests>[1] = { exemptLoopback: false },
  settings?: { trustProxy?: number },
) => startHandler(limitRequests(LIMIT, options), settings);

test('Rate limit: too many requests: rate_limited, with Retry-After in whole seconds until the window ends', async () => {
  const app = await startLimited();
  const served = await app('/x', NOT_LOCAL);
  const refused = await app('/x', NOT_LOCAL);
  expect([served.status, refused.status]).toEqual([200, 418]);
  expect(JSON.parse(refused.text)).toMatchObject({
    code: 'rate_limited',
    message: 'Too many requests come from this address. Wait for the time in Retry-After.',
  });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(10);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(20);
  expect(Object.keys({ ...served.headers, ...refused.headers }).join()).not.toMatch(/ratelimit/);
});

test.each([
  ['127.0.0.1', 200],
  ['127.9.9.9', 200],
  ['::1', 200],
  ['::ffff:127.0.0.1', 200],
  ['192.0.2.1', 418],
  ['192.127.0.1', 418],
  ['::12', 418],
  ['::ffff:192.0.2.1', 418],
])('Rate limit with loopback exempt: second request from %s: %i (418: limited)', async (ip, status) => {
  const limit = limitRequests(LIMIT, { exemptLoopback: true });
  const app = await startHandler((req, res, next) => {
    Object.defineProperty(req, 'ip', { value: ip });
    void limit(req, res, next);
  });
  const statuses = [(await app('/x')).status, (await app('/x')).status];
  expect(statuses).toEqual([200, status]);
});

test.each([
  ['X-Forwarded-For', { 'x-forwarded-for': '192.0.2.1' }],
  ['Forwarded', { forwarded: 'for=192.0.2.1' }],
])('Rate limit: no trusted proxy, request has %s: nothing is printed', async (_, headers) => {
  const printed = jest.spyOn(console, 'error').mockImplementation(() => {});
  afterwards(() => printed.mockRestore());
  const app = await startLimited({ exemptLoopback: false }, { trustProxy: 0 });
  await app('/x', headers);
  expect(printed).not.toHaveBeenCalled();
});

// The value is fixed: another release must accept the sessions of this one.
test('Session cookie: signature for a fixed secret, token and time: equals that of earlier releases', () => {
  const sessions = createSessions({
    secret: 'a secret',
    known: [{ token: 'reader', scopes: ['read'] }],
    sessionMs: 1000,
    clock: () => NOW,
  });
  const value = '1795000001000.euR1Q2PeerYe1yJZOUA4hIGMrOWqJcqNuYoqm6ERHu0';
  expect(sessions.begin({ token: 'reader', scopes: ['read'] }).value).toBe(value);
  expect(sessions.open(value)).toMatchObject({ known: { scopes: ['read'] }, endsAt: NOW + 1000 });
});

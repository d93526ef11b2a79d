import { createServer } from 'node:http';
import { describe, expect, jest, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import express from 'express';
import pino from 'pino';
import { createAccess, isUnsafe } from '../../../../api/access/http/index.ts';
import { createAttempts, limitRequests } from '../../../../api/access/http/rate-limits.ts';
import { createSessions } from '../../../../api/access/http/sessions.ts';
import { createTokens } from '../../../../api/access/http/tokens.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { type HttpApp, startHttpApp, TOKENS } from '../../../support/http/app.ts';
import { send } from '../../../support/http/index.ts';
import { listening } from '../../../support/http/listening.ts';

const NOW = 1_795_000_000_000;
const [READER = ''] = TOKENS.readTokens;

const afterwards = useCleanUps();

async function start(options?: Parameters<typeof startHttpApp>[0]): Promise<HttpApp> {
  const app = await startHttpApp(options);
  afterwards(app.stop);
  return app;
}

/** Starts a server that runs one handler and answers with the caller. */
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
      ...tokens,
    },
    secret: 'a secret',
    attempts: { most: 10, windowMs: 60_000 },
    clock: () => NOW,
    logger: pino({ level: 'silent' }),
  });

describe('Caller: each kind', () => {
  const bearer = { authorization: `Bearer ${READER}` };

  test('API caller: request with a token: the caller has the scopes of the token, and endsAt is null', async () => {
    const app = await start({ settings: TOKENS });
    const { text } = await app.send('/api/v1/caller', { headers: bearer });
    expect(JSON.parse(text)).toEqual({ by: 'token', scopes: ['read'], endsAt: null });
  });

  test('API caller: no token is set in the settings: any request has all scopes, and endsAt is null', async () => {
    const { text } = await (await start()).send('/api/v1/caller');
    expect(JSON.parse(text)).toEqual({ by: 'anybody', scopes: ['read', 'ingest', 'admin'], endsAt: null });
  });

  test('API caller: tokens are set, but the request has none: the caller is reported as nobody, without scopes', async () => {
    const access = accessOf();
    const app = await startHandler(async (req, res, next) => {
      res.locals['caller'] = await access.callerOf(req, res);
      next();
    });
    expect(JSON.parse((await app('/')).text)).toEqual({ by: 'nobody', scopes: [], endsAt: null });
  });

  test('API caller: the route needs no scope: any request passes, and no caller is determined', async () => {
    const app = await startHandler(accessOf().guard('open'));
    expect((await app('/')).text).toBe('null');
  });

  test('API access: at least one token is set: isRequired is true; no token is set: isRequired is false', () => {
    expect(accessOf().isRequired).toBe(true);
    expect(accessOf({ apiToken: undefined, readTokens: [], ingestTokens: [] }).isRequired).toBe(false);
  });

  test('API caller: sign-in: the response has the session and a cookie that expires with the session', async () => {
    const access = accessOf();
    const app = await startHandler(async (req, res, next) => {
      res.locals['caller'] = await access.signIn(req, res, READER);
      next();
    });
    const { text, headers } = await app('/');
    expect(JSON.parse(text)).toEqual({ by: 'session', scopes: ['read'], endsAt: NOW + 1000 });
    expect(headers['set-cookie']?.[0]).toContain('Expires=Wed, 18 Nov 2026 11:06:41 GMT');
  });
});

describe('Token in the query', () => {
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
});

describe('Refusals', () => {
  test('Access refusal: the token lacks a scope: error message and details name the missing scope', async () => {
    const app = await startHandler(accessOf().guard('admin'));
    const { text } = await app('/', { authorization: `Bearer ${READER}` });
    expect(JSON.parse(text)).toEqual({
      code: 'forbidden',
      message: 'This needs a token of the scope admin.',
      details: { scope: 'admin' },
    });
  });

  test('Access refusal: wrong tokens: the log has the address and the number of attempts', async () => {
    const lines: unknown[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
    const app = await start({ settings: TOKENS, logger, attempts: { most: 2, windowMs: 60_000 } });
    const wrong = { headers: { authorization: 'Bearer wrong' } };
    for (let count = 0; count < 5; count++) await app.send('/api/v1/caller', wrong);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({ address: '127.0.0.1', wrong: 1 });
    expect(lines[1]).toMatchObject({ address: '127.0.0.1', refused: 1 });
  });

  test('API access: every method except GET, HEAD and OPTIONS counts as a change', () => {
    const changes = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'get'].filter((method) =>
      isUnsafe({ method } as never),
    );
    expect(changes).toEqual(['POST', 'PUT', 'PATCH', 'DELETE', 'get']);
  });
});

describe('Limits of requests', () => {
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

  test('Rate limit: the window ends in less than a second: Retry-After is 1', async () => {
    const app = await startHandler(limitRequests({ most: 1, windowMs: 999 }, { exemptLoopback: false }));
    const answers = await Promise.all([app('/x', NOT_LOCAL), app('/x', NOT_LOCAL)]);
    expect(answers.map(({ headers }) => headers['retry-after']).filter(Boolean)).toEqual(['1']);
  });

  test('Rate limit: too many wrong tokens: rate_limited with a message about wrong tokens', async () => {
    const attempts = createAttempts(LIMIT);
    const app = await startHandler(async (req, res, next) => {
      await attempts.count(req, res);
      next();
    });
    expect((await app('/', NOT_LOCAL)).status).toBe(200);
    expect(JSON.parse((await app('/', NOT_LOCAL)).text)).toMatchObject({
      code: 'rate_limited',
      message: 'Too many wrong tokens came from this address. Wait for the time in Retry-After.',
    });
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

  test('Rate limit: loopback is exempt: a loopback request with X-Forwarded-For is still counted', async () => {
    const app = await startLimited({ exemptLoopback: true }, { trustProxy: 0 });
    const statuses = [];
    for (let count = 0; count < 2; count++) statuses.push((await app('/x', NOT_LOCAL)).status);
    expect(statuses).toEqual([200, 418]);
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
});

describe('Tokens and sessions', () => {
  test('Tokens: every token of the settings is known with the scopes of its setting', () => {
    expect(createTokens({ apiToken: 'a', readTokens: ['r'], ingestTokens: ['i'] }).known).toEqual([
      { token: 'a', scopes: ['read', 'ingest', 'admin'] },
      { token: 'r', scopes: ['read'] },
      { token: 'i', scopes: ['ingest'] },
    ]);
  });

  test('Tokens: one token is set: areSet is true', () => {
    expect(createTokens({ apiToken: undefined, readTokens: ['r'], ingestTokens: [] }).areSet).toBe(true);
  });

  test('Tokens: API_TOKEN is empty: areSet is false', () => {
    expect(createTokens({ apiToken: '', readTokens: [], ingestTokens: [] }).areSet).toBe(false);
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
    expect(sessions.open(value)).toEqual({ scopes: ['read'], endsAt: NOW + 1000 });
  });
});

import { expect, test } from '@jest/globals';
import { expectProblem, send } from '../../support/http/index.ts';
import { useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem({ settings: { HTTP_RATE_LIMIT: '1', TRUST_PROXY: '1' } });

let addresses = 0;
/** @param headers from a new client address, unless they contain one */
const ask = (path: string, headers: Record<string, string> = {}, method: string = 'GET') =>
  send(system.httpUrl, path, {
    headers: { 'x-forwarded-for': `198.51.100.${++addresses % 256}`, ...headers },
    method,
  });

/** A successful, a refused and an unknown request, pages, files, and a problem before any route. */
const ANSWERS: [path: string, headers: Record<string, string>][] = [
  ['/api/v1/fleet', {}],
  ['/api/v1/latest?limit=0', {}],
  ['/nothing', { accept: 'application/json' }],
  ['/', {}],
  ['/docs/', {}],
  ['/mark.svg', {}],
  ['/healthz', {}],
  ['/metrics', {}],
  ['/openapi.json', {}],
  ['/api/v1/fleet', { host: 'evil.example' }],
];

const SAFE = {
  'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

test('Security headers: HTTP request with too many header bytes: the 431 answer has the security headers', async () => {
  const answer = await ask('/', { cookie: 'x'.repeat(250_000) });
  expectProblem(answer, 431, 'headers_too_large');
  expect(answer.headers).toMatchObject(SAFE);
  expect(answer.headers['strict-transport-security']).toBeUndefined();
});

test.each(ANSWERS)(
  'Security headers: request of %s with %j: the answer has the security headers',
  async (path, headers) => {
    const answer = await ask(path, headers);
    expect(answer.headers).toMatchObject(SAFE);
    expect(answer.headers['x-powered-by']).toBeUndefined();
    // This header is only right with TLS.
    expect(answer.headers['strict-transport-security']).toBeUndefined();
  },
);

test('CORS: request from another origin: the answer has no Access-Control header', async () => {
  const origin = 'http://evil.example';
  const preflight = {
    'access-control-request-method': 'DELETE',
    'access-control-request-headers': 'authorization',
  };
  for (const path of ['/api/v1/latest', '/api/v1/devices/x', '/metrics', '/']) {
    for (const [method, more] of [
      ['OPTIONS', preflight],
      ['GET', {}],
    ] as const) {
      const { headers } = await ask(path, { origin, ...more }, method);
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  }
});

test('HTTP rate limit: too many requests from one address: 429; health, metrics, dashboard files and other addresses are still served', async () => {
  const from = { 'x-forwarded-for': '192.0.2.1' };
  // A window of the limit may end between two requests, so the number of refusals varies.
  const answers = [];
  for (let count = 0; count < 21; count++) answers.push(await ask('/api/v1/fleet', from));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) {
    expectProblem(answer, 429, 'rate_limited');
    expect(answer.headers['retry-after']).toMatch(/^([1-9]|10)$/);
  }
  for (let count = 0; count < 21; count++) {
    for (const path of ['/healthz', '/metrics', '/mark.svg']) {
      expect((await ask(path, from)).status).toBe(200);
    }
  }
  expect((await ask('/api/v1/fleet', { 'x-forwarded-for': '192.0.2.2' })).status).toBe(200);
});

import { expect, test } from '@jest/globals';
import { expectProblem, send } from '../../support/http/index.ts';
import { useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem();
const guarded = useTestSystem({ settings: { API_TOKEN: 'a token of at least 16 characters' } });

const SERVED = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/asyncapi.json',
  '/api/v1/latest',
  '/api/v1/stream',
];

test.each(SERVED)('HTTP route %s: other methods than GET and HEAD: answers 405', async (path) => {
  expect(await send(system.httpUrl, path, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
    const answer = await send(system.httpUrl, path, { method });
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers['allow']).toBe('GET, HEAD');
  }
});

test.each([
  '/api',
  '/api/v1',
  '/api/v1/nothing',
  '/api/v2/latest',
  '/nothing',
  '/assets/nothing.js',
  '/.env',
])('HTTP path %s: unknown: answers 404', async (path) => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    expectProblem(await send(system.httpUrl, path, { method }), 404, 'not_found');
  }
});

test('HTTP metrics: request method that no route serves: the label method is other', async () => {
  for (const path of ['/healthz', '/api/v1/latest', '/', '/mark.svg', '/nothing']) {
    for (const method of ['GET', 'HEAD', 'PUT', 'PROPFIND', 'M-SEARCH']) {
      await send(system.httpUrl, path, { method });
    }
  }
  const { text } = await send(system.httpUrl, '/metrics');
  const methods = [...text.matchAll(/^iot_http_request_seconds_count\{.*method="([^"]+)"/gm)];
  expect([...new Set(methods.map(([, method]) => method))].sort()).toEqual(['GET', 'HEAD', 'other']);
});

test.each(['/api/v1/devices/%zz', '/api/v1/devices/a%', '/api/v1/devices/%ff', '/devices/%zz'])(
  'HTTP path %s: invalid percent-encoding: answers bad_parameter',
  async (path) => {
    expectProblem(await send(system.httpUrl, path), 400, 'bad_parameter');
  },
);

test('HTTP request: its request line is too long: answers 431 as a problem document', async () => {
  const long = await send(system.httpUrl, `/api/v1/latest?type=${'x'.repeat(300_000)}`);
  expectProblem(long, 431, 'headers_too_large');
});

test('GET /openapi.json: no token is given: served', async () => {
  const document = JSON.parse((await send(system.httpUrl, '/openapi.json')).text);
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: 'test' } });
  expect(document.paths['/api/v1/latest'].get).toMatchObject({ operationId: 'listLatest', security: [] });
  const other = JSON.parse((await send(guarded.httpUrl, '/openapi.json')).text);
  expect(other.paths['/api/v1/latest'].get.security).toEqual([
    { token: ['read'] },
    { password: ['read'] },
    { session: ['read'] },
  ]);
});

test.each([
  ['/api/v1/latest', 'image/png'],
  ['/api/v1/devices', 'application/json;q=0'],
  ['/api/v1/stream', 'application/json'],
  ['/healthz', 'nonsense'],
  ['/metrics', 'application/json'],
])('HTTP route %s: Accept header allows only %s: answers 406', async (path, accept) => {
  const { detail } = expectProblem(
    await send(system.httpUrl, path, { headers: { accept } }),
    406,
    'not_acceptable',
  );
  expect(detail).toMatch(/^This route serves \S+\/\S+/);
});

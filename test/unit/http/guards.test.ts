import { expect, test } from '@jest/globals';
import { type HttpApp, startHttpApp, TOKENS, useHttpApp } from '../../support/http/app.ts';

const loopback = useHttpApp();
const open = useHttpApp({ settings: { host: '0.0.0.0' } });

async function answerTo(app: HttpApp, lines: string[]): Promise<unknown[]> {
  const { status, text } = await app.sendLines(lines);
  return [status, JSON.parse(text).code];
}

test.each([
  ['two headers', ['GET /healthz HTTP/1.1', 'Host: localhost', 'Host: evil.example']],
  ['two headers, another host first', ['GET /healthz HTTP/1.1', 'Host: evil.example', 'Host: localhost']],
  ['two equal headers', ['GET /healthz HTTP/1.1', 'Host: localhost', 'Host: localhost']],
  ['two headers, in another case and apart', ['GET /healthz HTTP/1.1', 'hOST: localhost', 'A: b', 'HOST: x']],
  ['two headers of HTTP/1.0', ['GET /healthz HTTP/1.0', 'Host: localhost', 'Host: localhost']],
  ['two headers, an absolute target', ['GET http://localhost/healthz HTTP/1.1', 'Host: a', 'Host: b']],
  ['no header', ['GET /healthz HTTP/1.1']],
  ['no header, an absolute target', ['GET http://localhost/healthz HTTP/1.1']],
  ['a list', ['GET /healthz HTTP/1.1', 'Host: localhost, evil.example']],
  ['a path', ['GET /healthz HTTP/1.1', 'Host: localhost/evil']],
  ['user information', ['GET /healthz HTTP/1.1', 'Host: evil@localhost']],
  ['a port that is no number', ['GET /healthz HTTP/1.1', 'Host: localhost:http']],
  ['characters beyond ASCII', ['GET /healthz HTTP/1.1', 'Host: l\u00f6calhost']],
  ['a target with user information', ['GET http://evil@localhost/healthz HTTP/1.1', 'Host: localhost']],
  ['a target without a host', ['GET http:///healthz HTTP/1.1', 'Host: localhost']],
  ['a target of another scheme', ['GET ftp://localhost/healthz HTTP/1.1', 'Host: localhost']],
])('Host guard: malformed Host header, %s: 400', async (_, lines) => {
  expect(await answerTo(loopback, lines)).toEqual([400, 'bad_request']);
  expect(await answerTo(open, lines)).toEqual([400, 'bad_request']);
});

test.each([
  ['http://evil.example/healthz', 'localhost', 421],
  ['http://evil.example:80/healthz', '127.0.0.1', 421],
  ['HTTPS://evil.example?x', 'localhost', 421],
  ['http://localhost.evil.example/healthz', 'localhost', 421],
  ['http://localhost/healthz', 'evil.example', 200],
  ['http://127.0.0.1:8080/healthz', 'evil.example', 200],
  ['HTTP://[::1]:8080/healthz', 'evil.example', 200],
])('Host guard on loopback: GET %s with Host %s: %i', async (target, host, status) => {
  const answer = await loopback.sendLines([`GET ${target} HTTP/1.1`, `Host: ${host}`]);
  expect(answer.status).toBe(status);
});

test.each([
  ['localhost', 200],
  ['LOCALHOST:80', 200],
  ['localhost:', 200],
  ['127.0.0.1:8080', 200],
  ['[::1]', 200],
  ['evil.example', 421],
  ['127.0.0.1.evil.example', 421],
  ['', 421],
])('Host guard on loopback: Host header %j: %i', async (host, status) => {
  expect((await loopback.sendLines(['GET /healthz HTTP/1.1', `Host: ${host}`])).status).toBe(status);
});

test('Host guard on loopback: HTTP/1.0 request without a Host header: 421', async () => {
  expect(await answerTo(loopback, ['GET /healthz HTTP/1.0'])).toEqual([421, 'wrong_host']);
});

test('Host guard: listener beyond loopback: every valid host is served', async () => {
  for (const lines of [
    ['GET /healthz HTTP/1.1', 'Host: millrace.example:443'],
    ['GET http://millrace.example/healthz HTTP/1.1', 'Host: other.example'],
    ['GET /healthz HTTP/1.0'],
  ]) {
    expect((await open.sendLines(lines)).status).toBe(200);
  }
});

const LINES = ['GET /healthz HTTP/1.1', 'Host: millrace.example'];

test.each([
  ['with tokens: served', { ...TOKENS, trustProxy: 1 }, 200],
  ['without tokens: refused', { trustProxy: 1 }, 421],
  ['with tokens, without TRUST_PROXY: refused', TOKENS, 421],
])('Host guard on loopback behind a proxy: %s', async (_, settings, status) => {
  const app = await startHttpApp({ settings });
  try {
    expect((await app.sendLines(LINES)).status).toBe(status);
  } finally {
    await app.stop();
  }
});

test('Origin check: absolute request target: its authority is the own origin, the Host header is not', async () => {
  const statusOf = async (origin: string) =>
    (
      await open.sendLines([
        'DELETE http://ours.example/api/v1/session HTTP/1.1',
        'Host: other.example',
        `Origin: ${origin}`,
      ])
    ).status;
  expect(await statusOf('http://ours.example')).toBe(204);
  expect(await statusOf('http://other.example')).toBe(403);
});

import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import type { Bounds } from '../../../api/access/connection-limits.ts';
import { createHttpServer } from '../../../api/http/server.ts';
import { createMetrics } from '../../../api/observability/metrics.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { createTcpClients, type TcpClient } from '../../support/http/tcp-clients.ts';
import { until } from '../../support/until.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

const afterwards = useCleanUps();
const tcpClients = createTcpClients(afterwards);

const NEVER_MS = 86_400_000;

const LARGE = Buffer.alloc(16 * 1024 * 1024);

async function startServer({
  bounds,
  requestMs = NEVER_MS,
  stallMs = NEVER_MS,
}: {
  bounds?: Bounds;
  requestMs?: number;
  stallMs?: number;
} = {}) {
  const streams: ServerResponse[] = [];
  const requests = { started: 0, closed: 0 };
  const metrics = createMetrics({ version: 'test', role: 'all' });
  const server = createHttpServer({
    app: (req, res) => {
      requests.started++;
      res.once('close', () => requests.closed++);
      if (req.url === '/stream') streams.push(res.writeHead(200));
      else res.end(req.url === '/large' ? LARGE : 'well');
    },
    host: '127.0.0.1',
    port: 0,
    stopStreams: () => streams.forEach((res) => void res.end()),
    requestMs,
    stallMs,
    metrics,
    bounds,
  });
  await server.start();
  afterwards(() => server.stop());
  const refused = async (reason: string): Promise<number> => {
    const { values } = await metrics.connectionsRefused.get();
    return values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
  };
  return { port: server.port, refused, streams, requests };
}

/** @param times the number of answers so far, with this one */
async function ask(client: TcpClient, times: number) {
  client.socket.write(REQUEST);
  await until(() => client.received().split('well').length === times + 1);
}

test('HTTP connections: a flood of idle connections from one address: only idle connections of that address are closed', async () => {
  const { port, refused, streams } = await startServer({ bounds: { connections: 1000, pending: 50 } });
  const reader = await tcpClients.open(port, '127.0.0.2');
  reader.socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until(() => streams.length === 1);
  const browser = await tcpClients.open(port, '127.0.0.3');
  await ask(browser, 1);

  const idle = await tcpClients.flood(200, port, '127.0.0.2');
  await until(async () => (await refused('crowded')) === 151);
  await until(() => idle.filter(({ closed }) => closed()).length === 151);
  expect(idle.slice(0, 151).every(({ closed }) => closed())).toBe(true);

  expect(reader.closed()).toBe(false);
  await ask(browser, 2);
  await ask(await tcpClients.open(port, '127.0.0.4'), 1);
});

test.each([
  ['no request', ''],
  ['headers slowly', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(10_000)}`],
])('HTTP request: the client sends %s: the answer is 408 too_slow', async (_, bytes) => {
  const { port } = await startServer({ requestMs: 300 });
  const client = await tcpClients.open(port);
  await client.drip(bytes, 5);
  expect(client.received()).toMatch(/^HTTP\/1\.1 408 [\s\S]*"too_slow"/);
});

test.each([
  ['requests', REQUEST],
  ['requests with an unknown expectation', `${REQUEST.slice(0, -2)}Expect: all\r\n\r\n`],
  ['requests without a host', 'GET / HTTP/1.1\r\n\r\n'],
])(
  'HTTP pipelining: 1,000 %s behind an unanswered request: no further request is handled, and the connection closes',
  async (_, request) => {
    const { port, requests } = await startServer();
    const client = await tcpClients.open(port);
    client.socket.write(`GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n${request.repeat(1000)}`);
    await until(() => client.closed());
    expect(requests.started).toBe(1);
  },
);

async function readNothing(port: number, from?: string) {
  const client = await tcpClients.open(port, from);
  client.socket.pause().write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return client;
}

test('HTTP answer: the client does not read it: the client is disconnected, even if it sends; an idle event stream stays open', async () => {
  const { port, streams, requests } = await startServer({ stallMs: 100 });
  const reader = await tcpClients.open(port);
  reader.socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until(() => streams.length === 1);
  const stuck = await readNothing(port);
  const sending = setInterval(() => stuck.socket.write('\r\n'), 20);
  afterwards(() => clearInterval(sending));
  await until(() => requests.closed === 1);
  // The server sent nothing to this reader in the meantime, so no answer waits for the reader.
  expect(reader.closed()).toBe(false);
});

test('HTTP connections: many clients that do not read their answers: limited by the bound for idle connections', async () => {
  const { port, refused, requests } = await startServer({
    bounds: { connections: 1000, pending: 20 },
  });
  const other = await readNothing(port, '127.0.0.3');
  for (let count = 0; count < 60; count++) await readNothing(port, '127.0.0.2');
  await until(async () => (await refused('crowded')) === 41);
  await until(() => requests.closed === 41);
  await ask(await tcpClients.open(port, '127.0.0.4'), 1);
  other.socket.resume();
  await until(() => other.received().length > LARGE.length);
});

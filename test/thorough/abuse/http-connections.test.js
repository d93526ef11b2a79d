import { expect, test } from '@jest/globals';
import { createHttpServer } from '../../../api/http/server.js';
import { createMetrics } from '../../../api/observability/metrics.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { createTcpClients } from '../../support/tcp-clients.js';
import { until } from '../../support/until.js';

/** @import { ServerResponse } from 'node:http' */
/** @import { Bounds } from '../../../api/access/connection-limits.js' */
/** @import { TcpClient } from '../../support/tcp-clients.js' */

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

const afterwards = useCleanUps();
const strangers = createTcpClients(afterwards);

const NEVER_MS = 86_400_000;

/** More than the connection itself takes. */
const LARGE = Buffer.alloc(16 * 1024 * 1024);

/** @param {{ bounds?: Bounds, requestMs?: number, stallMs?: number }} [options] */
async function startServer({ bounds, requestMs = NEVER_MS, stallMs = NEVER_MS } = {}) {
  /** @type {ServerResponse[]} */
  const streams = [];
  const asked = { times: 0, over: 0 };
  const metrics = createMetrics({ version: 'test', role: 'all' });
  const server = createHttpServer({
    app: (req, res) => {
      asked.times++;
      res.once('close', () => asked.over++);
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
  /** @param {string} reason @returns {Promise<number>} */
  const refused = async (reason) => {
    const { values } = await metrics.connectionsRefused.get();
    return values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
  };
  return { port: server.port, refused, streams, asked };
}

/** @param {TcpClient} stranger @param {number} times that it was answered */
async function ask(stranger, times) {
  stranger.socket.write(REQUEST);
  await until(() => stranger.received().split('well').length === times + 1);
}

test('a flood of idle connections shuts out its own address alone; who is being answered stays', async () => {
  const { port, refused, streams } = await startServer({ bounds: { connections: 1000, pending: 50 } });
  const reader = await strangers.open(port, '127.0.0.2');
  reader.socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until(() => streams.length === 1);
  const browser = await strangers.open(port, '127.0.0.3');
  await ask(browser, 1);

  const crowd = await strangers.flood(200, port, '127.0.0.2');
  await until(async () => (await refused('crowded')) === 151);
  await until(() => crowd.filter(({ closed }) => closed()).length === 151);
  expect(crowd.slice(0, 151).every(({ closed }) => closed())).toBe(true);

  expect(reader.closed()).toBe(false);
  await ask(browser, 2);
  await ask(await strangers.open(port, '127.0.0.4'), 1);
});

test('who was answered and then says nothing is one of the crowd again', async () => {
  const { port, refused } = await startServer({ bounds: { connections: 1000, pending: 20 } });
  const crowd = await strangers.flood(20, port);
  for (const each of crowd) await ask(each, 1);
  await ask(await strangers.open(port, '127.0.0.2'), 1);
  await until(async () => (await refused('crowded')) === 1);
  await until(() => crowd[0]?.closed());
});

test('of connections beyond the most there are each is closed as it comes', async () => {
  const { port, refused } = await startServer({ bounds: { connections: 20, pending: 20 } });
  await strangers.flood(20, port);
  const crowd = await strangers.flood(10, port);
  await until(() => crowd.every(({ closed }) => closed()));
  expect(await refused('full')).toBe(10);
});

test('two thousand idle connections: those that are kept are bounded, and a browser is served', async () => {
  const { port, refused } = await startServer();
  const crowds = await Promise.all(
    ['127.0.0.2', '127.0.0.3'].map((from) => strangers.flood(1000, port, from)),
  );
  await until(async () => (await refused('crowded')) === 2000 - 1024);
  await ask(await strangers.open(port), 1);
  expect(crowds.flat().filter(({ closed }) => !closed()).length).toBeLessThanOrEqual(1024);
});

test.each([
  ['nothing', ''],
  ['headers, a byte at a time', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(10_000)}`],
])('who sends %s is told that it is too slow', async (_, bytes) => {
  const { port } = await startServer({ requestMs: 300 });
  const stranger = await strangers.open(port);
  await stranger.drip(bytes, 5);
  expect(stranger.received()).toMatch(/^HTTP\/1\.1 408 [\s\S]*"too_slow"/);
});

test('who is answered before the end of his body cannot go on with it for ever', async () => {
  const { port } = await startServer({ requestMs: 300 });
  const stranger = await strangers.open(port);
  stranger.socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n');
  await stranger.drip('x'.repeat(100_000), 5);
  expect(stranger.received()).toContain('well');
});

test.each([
  ['requests', REQUEST],
  ['requests with an expectation that nobody knows', `${REQUEST.slice(0, -2)}Expect: all\r\n\r\n`],
  ['requests without a host', 'GET / HTTP/1.1\r\n\r\n'],
])(
  'a thousand %s behind one that is under way: none of them is looked at, and the connection ends',
  async (_, one) => {
    const { port, asked } = await startServer();
    const stranger = await strangers.open(port);
    stranger.socket.write(`GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n${one.repeat(1000)}`);
    await until(() => stranger.closed());
    expect(asked.times).toBe(1);
  },
);

test('who sends the next request before he has his answer gets both, in their order', async () => {
  const { port, streams } = await startServer();
  const hasty = await strangers.open(port);
  hasty.socket.write(`GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n${REQUEST}`);
  await until(() => streams.length === 1);
  streams[0]?.end('first');
  await until(() => hasty.received().includes('well'));
  expect(hasty.received()).toMatch(/first[\s\S]*well$/);
  await ask(hasty, 2);
});

test('whose next answer has begun says nothing no longer, though the last one has just ended', async () => {
  const { port, refused, streams } = await startServer({ bounds: { connections: 1000, pending: 20 } });
  const hasty = await strangers.open(port);
  hasty.socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2));
  await until(() => streams.length === 1);
  streams[0]?.end();
  await until(() => streams.length === 2);
  await strangers.flood(30, port);
  await until(async () => (await refused('crowded')) === 10);
  expect(hasty.closed()).toBe(false);
});

test('who waits to be told to send his body is told, and goes on upon the same connection', async () => {
  const { port } = await startServer();
  const careful = await strangers.open(port);
  careful.socket.write(
    'POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n',
  );
  await until(() => careful.received().startsWith('HTTP/1.1 100 Continue'));
  careful.socket.write('{}');
  await until(() => careful.received().endsWith('well'));
  await ask(careful, 2);
});

/** @param {number} port @param {string} [from] */
async function takeNothing(port, from) {
  const stranger = await strangers.open(port, from);
  stranger.socket.pause().write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return stranger;
}

test('who takes nothing of his answer is given up, though he goes on sending; who is told nothing is not', async () => {
  const { port, streams, asked } = await startServer({ stallMs: 100 });
  const reader = await strangers.open(port);
  reader.socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until(() => streams.length === 1);
  const stuck = await takeNothing(port);
  const knocking = setInterval(() => stuck.socket.write('\r\n'), 20);
  afterwards(() => clearInterval(knocking));
  await until(() => asked.over === 1);
  // All this while it was told nothing, and waits for nothing.
  expect(reader.closed()).toBe(false);
});

test('a crowd of those who take nothing of their answers is bounded as one that asks nothing', async () => {
  const { port, refused, asked } = await startServer({
    bounds: { connections: 1000, pending: 20 },
  });
  const other = await takeNothing(port, '127.0.0.3');
  for (let count = 0; count < 60; count++) await takeNothing(port, '127.0.0.2');
  await until(async () => (await refused('crowded')) === 41);
  await until(() => asked.over === 41);
  await ask(await strangers.open(port, '127.0.0.4'), 1);
  other.socket.resume();
  await until(() => other.received().length > LARGE.length);
});

test('who went away in the middle of his answer is none of the crowd', async () => {
  const { port, refused, streams, asked } = await startServer({
    bounds: { connections: 1000, pending: 20 },
  });
  for (let count = 0; count < 30; count++) {
    const reader = await strangers.open(port);
    reader.socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until(() => streams.length === count + 1);
    reader.socket.destroy();
  }
  await until(() => asked.over === 30);
  const later = await strangers.flood(20, port);
  for (const each of later) await ask(each, 1);
  expect(await refused('crowded')).toBe(0);
});

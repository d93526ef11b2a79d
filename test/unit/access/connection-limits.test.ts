import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { type Bounds, boundConnections } from '../../../api/access/connection-limits.ts';
import { createMetrics } from '../../../api/observability/metrics.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { listening } from '../../support/http/listening.ts';
import { createTcpClients } from '../../support/http/tcp-clients.ts';
import { readSeries } from '../../support/metrics.ts';
import { until } from '../../support/until.ts';

const NEVER_MS = 86_400_000;

const afterwards = useCleanUps();
const strangers = createTcpClients(afterwards);

async function listen(listener: 'mqtt' | 'http', bounds: Bounds) {
  const metrics = createMetrics({ version: 'test', role: 'all' });
  const server = createServer((socket) => socket.on('error', () => {}));
  boundConnections(server, listener, bounds, metrics);
  const port = await listening(server);
  afterwards(() => server.close());
  async function refused(): Promise<Record<string, number>> {
    const text = await metrics.registry.metrics();
    const count = (reason: string) =>
      readSeries(text, `iot_connections_refused_total{listener="${listener}",reason="${reason}"}`);
    return {
      crowded: count('crowded') ?? Number.NaN,
      silent: count('silent') ?? Number.NaN,
      full: count('full') ?? Number.NaN,
    };
  }
  return { port, refused };
}

test.each(['mqtt', 'http'] as const)(
  'Connection limits: %s listener: too many connections without a request: the oldest is closed, counted with reason crowded',
  async (listener) => {
    const { port, refused } = await listen(listener, { connections: 100, pending: 2, withinMs: NEVER_MS });
    expect(await refused()).toEqual({ crowded: 0, silent: 0, full: 0 });
    const [oldest] = await strangers.flood(3, port);
    await until(() => oldest?.closed());
    expect(await refused()).toEqual({ crowded: 1, silent: 0, full: 0 });
  },
);

test.each(['mqtt', 'http'] as const)(
  'Connection limits: %s listener: all allowed connections are open: a new connection is closed, counted with reason full',
  async (listener) => {
    const { port, refused } = await listen(listener, { connections: 1, pending: 100, withinMs: NEVER_MS });
    const [, late] = await strangers.flood(2, port);
    await until(() => late?.closed());
    expect(await refused()).toEqual({ crowded: 0, silent: 0, full: 1 });
  },
);

test('Connection limits: an MQTT client sends nothing before the deadline: its connection is closed, counted with reason silent', async () => {
  const { port, refused } = await listen('mqtt', { connections: 3, pending: 3, withinMs: 20 });
  const stranger = await strangers.open(port);
  await until(() => stranger.closed());
  expect(await refused()).toEqual({ crowded: 0, silent: 1, full: 0 });
});

import { afterAll, expect, jest, test } from '@jest/globals';
import mqtt from 'mqtt';
import type { Bounds } from '../../../../api/access/connection-limits.ts';
import type { OwnCertificate } from '../../../../api/access/tls/certificate-reload.ts';
import { certificatesFolder } from '../../../support/certificates.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { createTcpClients, type TcpClient } from '../../../support/http/tcp-clients.ts';
import { connectBytes } from '../../../support/mqtt/packets.ts';
import { startBrokerAlone } from '../../../support/mqtt-broker.ts';
import { until } from '../../../support/until.ts';

const NEVER_MS = 86_400_000;
const CONNACK = '\u0020\u0002\u0000\u0000';

const afterwards = useCleanUps();
const tcpClients = createTcpClients(afterwards);

const certificates = certificatesFolder();
afterAll(() => certificates.remove());

async function startBroker(bounds?: Bounds, tls?: OwnCertificate) {
  const { broker, metrics } = await startBrokerAlone(afterwards, { bounds, tls });
  const refused = async (reason: string): Promise<number> => {
    const { values } = await metrics.connectionsRefused.get();
    return values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
  };
  const clients = () => Number.parseInt(broker.check().message, 10);
  return { port: broker.port, clients, metrics, refused };
}

/** The timers that are not faked: all but `setTimeout`, which measures the time limit of CONNECT. */
const REAL = [
  ...['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'],
  ...['setImmediate', 'clearImmediate', 'setInterval', 'clearInterval'],
] as const;

/** Connections that open from now on have a time limit that passes only in `advance`. */
function stopTime() {
  jest.useFakeTimers({ doNotFake: REAL as never });
  afterwards(() => jest.useRealTimers());
}

async function connectMqtt(client: TcpClient, clientId: string) {
  client.socket.write(connectBytes({ clientId }));
  await until(() => client.received() === CONNACK);
}

test('MQTT connections: a flood without CONNECT: only connections of the same address are closed, the oldest first', async () => {
  const { port, refused } = await startBroker({ connections: 1000, pending: 50, withinMs: NEVER_MS });
  const device = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`);
  afterwards(() => device.endAsync(true));
  let broken = 0;
  device.on('close', () => broken++);
  const slow = await tcpClients.open(port, '127.0.0.3');

  const flood = await tcpClients.flood(200, port, '127.0.0.2');
  await until(async () => (await refused('crowded')) === 151);
  await until(() => flood.filter(({ closed }) => closed()).length === 151);
  expect(flood.slice(0, 151).every(({ closed }) => closed())).toBe(true);

  // Earlier and later clients are answered. A connected device stays connected.
  await connectMqtt(slow, 'slow');
  await connectMqtt(await tcpClients.open(port, '127.0.0.4'), 'late');
  await device.publishAsync('iot/v1/d/measurements', 'x', { qos: 1 });
  expect(broken).toBe(0);
});

test.each([
  ['sends no byte', Buffer.alloc(0)],
  ['sends CONNECT too slowly', connectBytes({ clientId: 'x'.repeat(10_000) })],
  ['stays after its CONNECT is refused', Buffer.from('100c00044d5154540502003c00000000', 'hex')],
])('MQTT connection: the client %s: closed after the time limit for CONNECT', async (_, bytes) => {
  const { port, clients } = await startBroker({ connections: 1000, pending: 50, withinMs: 300 });
  stopTime();
  const client = await tcpClients.open(port);
  const dripped = client.drip(bytes, 5);
  // Bytes arrive between the steps. They must not extend the time limit.
  await until(() => {
    jest.advanceTimersByTime(30);
    return client.closed();
  });
  await dripped;
  expect(client.received()).not.toBe(CONNACK);
  expect(clients()).toBe(0);
});

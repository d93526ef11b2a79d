import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { watchForTakeover } from '../../../../api/features/external-broker/source/presence.ts';
import { startTcpProxy } from '../../../support/http/tcp-proxy.ts';
import { useExternalBroker } from '../../../support/mqtt/external-broker.ts';
import { until } from '../../../support/until.ts';

const { broker, afterwards } = useExternalBroker();

/** Settles at the next event of this kind, and ignores errors before it. */
const next = (client: mqtt.MqttClient, event: 'connect' | 'close'): Promise<void> =>
  new Promise((resolve) => client.once(event, () => resolve(undefined)));

/** Starts a client that is watched for a takeover, behind a network that can fail. */
async function startWatched() {
  const proxy = await startTcpProxy(broker().url);
  afterwards(proxy.stop);
  const client = mqtt.connect(proxy.url, { clientId: 'watched', protocolVersion: 5, reconnectPeriod: 20 });
  afterwards(() => client.endAsync(true));
  const seen: { taken: number; errors: string[] } = { taken: 0, errors: [] };
  client.on('error', (error) => seen.errors.push(String((error as NodeJS.ErrnoException).code)));
  watchForTakeover(client, () => {
    seen.taken++;
  });
  await next(client, 'connect');
  return { proxy, client, seen };
}

test('MQTT client id takeover: broker accepts and soon resets the connection, five times: a takeover is reported', async () => {
  const { proxy, client, seen } = await startWatched();
  for (let round = 0; round < 4; round++) {
    expect(seen.taken).toBe(0);
    const reconnected = next(client, 'connect');
    proxy.cut('reset');
    await proxy.open();
    await reconnected;
  }
  const closed = next(client, 'close');
  proxy.cut('reset');
  await closed;
  expect(seen.errors).toContain('ECONNRESET');
  expect(seen.taken).toBe(1);
});

test('MQTT client id takeover: the network fails eight times: no takeover is reported', async () => {
  const { proxy, client, seen } = await startWatched();
  for (let round = 0; round < 8; round++) {
    const before = seen.errors.filter((code) => code === 'ECONNREFUSED').length;
    proxy.cut('refuse');
    await until(() => seen.errors.filter((code) => code === 'ECONNREFUSED').length > before);
    const reconnected = next(client, 'connect');
    await proxy.open();
    await reconnected;
  }
  expect(seen.taken).toBe(0);
});

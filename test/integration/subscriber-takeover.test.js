import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { watchForTakeover } from '../../api/mqtt/external/presence.js';
import { useExternalBroker } from '../support/external-broker.js';
import { startGate } from '../support/tcp-gate.js';
import { until } from '../support/until.js';

const { broker, afterwards } = useExternalBroker();

/** Settles at the next one, whatever errors come before it. @param {mqtt.MqttClient} client @param {'connect' | 'close'} event @returns {Promise<void>} */
const next = (client, event) => new Promise((resolve) => client.once(event, () => resolve(undefined)));

/** A client that is watched, behind a network that can fail. */
async function startWatched() {
  const gate = await startGate(broker().url);
  afterwards(gate.stop);
  const client = mqtt.connect(gate.url, { clientId: 'ours', protocolVersion: 5, reconnectPeriod: 20 });
  afterwards(() => client.endAsync(true));
  /** @type {{ taken: number, errors: string[] }} */
  const seen = { taken: 0, errors: [] };
  client.on('error', (error) => seen.errors.push(String(/** @type {NodeJS.ErrnoException} */ (error).code)));
  watchForTakeover(client, () => {
    seen.taken++;
  });
  await next(client, 'connect');
  return { gate, client, seen };
}

test('a broker that takes each connection and soon resets it serves another one as well', async () => {
  const { gate, client, seen } = await startWatched();
  for (let again = 0; again < 4; again++) {
    expect(seen.taken).toBe(0);
    const back = next(client, 'connect');
    gate.cut('reset');
    await gate.open();
    await back;
  }
  const closed = next(client, 'close');
  gate.cut('reset');
  await closed;
  expect(seen.errors).toContain('ECONNRESET');
  expect(seen.taken).toBe(1);
});

test('a network that fails is something else, however often', async () => {
  const { gate, client, seen } = await startWatched();
  for (let again = 0; again < 8; again++) {
    const before = seen.errors.filter((code) => code === 'ECONNREFUSED').length;
    gate.cut('refuse');
    await until(() => seen.errors.filter((code) => code === 'ECONNREFUSED').length > before);
    const back = next(client, 'connect');
    await gate.open();
    await back;
  }
  expect(seen.taken).toBe(0);
});

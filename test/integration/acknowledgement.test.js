import { afterAll, beforeAll, expect } from '@jest/globals';
import mqtt from 'mqtt';
import { connectStore } from '../../api/store/index.js';
import { HeldWrites } from '../support/database/held-writes.js';
import { track } from '../support/database/track.js';
import { GROUPS, testAcknowledgements, WRITES_OF_A_MESSAGE } from '../support/mqtt/acknowledgement-order.js';
import { startTestSystem } from '../support/system/index.js';
import { until } from '../support/until.js';

/** @import { Transport } from '../support/mqtt/acknowledgement-order.js' */
/** @import { TestSystem } from '../support/system/index.js' */

const writes = new HeldWrites();
/** @type {TestSystem} */
let system;
/** @type {mqtt.MqttClient[]} */
let clients;
beforeAll(async () => {
  system = await startTestSystem({
    settings: { LATEST_GROUPS: String(GROUPS) },
    openStore: writes.opens(connectStore),
  });
  clients = [await mqtt.connectAsync(system.mqttUrl), await mqtt.connectAsync(system.mqttUrl)];
});
afterAll(async () => {
  for (const client of clients ?? []) await client.endAsync(true);
  await system?.stop();
});

/** @param {mqtt.MqttClient | undefined} client @param {string} device @param {object[]} elements */
const publish = (client, device, elements) =>
  /** @type {mqtt.MqttClient} */ (client).publishAsync(
    `iot/v1/${device}/measurements`,
    JSON.stringify(elements),
    { qos: 1 },
  );

/** @param {string} device @param {object[]} elements */
async function post(device, elements) {
  const response = await system.fetch(`/measurements?device=${device}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(elements),
  });
  expect([200, 422]).toContain(response.status);
}

const ANOTHER = [{ sensor_id: 's', ts: Date.now(), value: 1 }];

/** @type {Transport} */
const broker = {
  send: (device, elements) => track(() => publish(clients[0], device, elements)),
  async sendAnother(device) {
    await publish(clients[1], device, ANOTHER);
  },
  // The broker answers a ping on the same connection, after everything that it has written there.
  async flush() {
    const client = /** @type {mqtt.MqttClient} */ (clients[0]);
    let isAnswered = false;
    /** @param {{ cmd: string }} packet */
    const onPacket = ({ cmd }) => {
      if (cmd === 'pingresp') isAnswered = true;
    };
    client.on('packetreceive', onPacket);
    client.sendPing();
    await until(() => isAnswered, { what: 'PINGRESP' });
    client.off('packetreceive', onPacket);
  },
};

/** @type {Transport} */
const http = {
  send: (device, elements) => track(() => post(device, elements)),
  sendAnother: (device) => post(device, ANOTHER),
  // An earlier answer was written before the request of `sendAnother`, and is read before its answer.
  flush: async () => {},
};

testAcknowledgements('embedded broker', { writes, transport: broker });

testAcknowledgements('HTTP', {
  writes,
  transport: http,
  // HTTP reports what it refuses, and keeps no dead letter.
  cases: WRITES_OF_A_MESSAGE.filter(({ write }) => write !== 'deadLetters.write'),
});

import { beforeAll, expect } from '@jest/globals';
import mqtt from 'mqtt';
import { connectStore } from '../../api/store/index.js';
import { HeldWrites } from '../support/database/held-writes.js';
import { track } from '../support/database/track.js';
import { GROUPS, testAcknowledgements, WRITES_OF_A_MESSAGE } from '../support/mqtt/acknowledgement-order.js';
import { useTestSystem } from '../support/system/use.js';
import { until } from '../support/until.js';

/** @import { Transport } from '../support/mqtt/acknowledgement-order.js' */

const writes = new HeldWrites();
const system = useTestSystem({
  settings: { LATEST_GROUPS: String(GROUPS) },
  openStore: writes.opens(connectStore),
});
/** @type {mqtt.MqttClient[]} */
const clients = [];
beforeAll(async () => {
  for (let count = 0; count < 2; count++) {
    const client = await mqtt.connectAsync(system.mqttUrl);
    system.beforeStop(() => client.endAsync(true));
    clients.push(client);
  }
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
  const response = await system.post(`/measurements?device=${device}`, elements);
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
  // Nothing to flush: the API writes an earlier answer before it gets the request of `sendAnother`. The client reads
  // that answer first.
  flush: async () => {},
};

testAcknowledgements('embedded broker', { writes, transport: broker });

testAcknowledgements('HTTP', {
  writes,
  transport: http,
  // The HTTP API reports refused measurements in its answer, and keeps no dead letter.
  cases: WRITES_OF_A_MESSAGE.filter(({ write }) => write !== 'deadLetters.write'),
});

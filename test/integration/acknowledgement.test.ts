import { beforeAll, expect } from '@jest/globals';
import mqtt from 'mqtt';
import { connectStore } from '../../api/store/index.ts';
import { HeldWrites } from '../support/database/held-writes.ts';
import { track } from '../support/database/track.ts';
import {
  GROUPS,
  type Transport,
  testAcknowledgements,
  WRITES_OF_A_MESSAGE,
} from '../support/mqtt/acknowledgement-order.ts';
import { useTestSystem } from '../support/system/use.ts';
import { until } from '../support/until.ts';

const writes = new HeldWrites();
const system = useTestSystem({
  settings: { LATEST_GROUPS: String(GROUPS) },
  openStore: writes.opens(connectStore),
});
const clients: mqtt.MqttClient[] = [];
beforeAll(async () => {
  for (let count = 0; count < 2; count++) {
    const client = await mqtt.connectAsync(system.mqttUrl);
    system.beforeStop(() => client.endAsync(true));
    clients.push(client);
  }
});

const publish = (client: mqtt.MqttClient | undefined, device: string, elements: object[]) =>
  (client as mqtt.MqttClient).publishAsync(`iot/v1/${device}/measurements`, JSON.stringify(elements), {
    qos: 1,
  });

async function post(device: string, elements: object[]) {
  const response = await system.post(`/measurements?device=${device}`, elements);
  expect([200, 422]).toContain(response.status);
}

const ANOTHER = [{ sensor_id: 's', ts: Date.now(), value: 1 }];

const broker: Transport = {
  send: (device, elements) => track(() => publish(clients[0], device, elements)),
  async sendAnother(device) {
    await publish(clients[1], device, ANOTHER);
  },
  // The broker answers a ping on the same connection, after everything that it has written there.
  async flush() {
    const client = clients[0] as mqtt.MqttClient;
    let isAnswered = false;
    const onPacket = ({ cmd }: { cmd: string }) => {
      if (cmd === 'pingresp') isAnswered = true;
    };
    client.on('packetreceive', onPacket);
    client.sendPing();
    await until(() => isAnswered, { what: 'PINGRESP' });
    client.off('packetreceive', onPacket);
  },
};

const http: Transport = {
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

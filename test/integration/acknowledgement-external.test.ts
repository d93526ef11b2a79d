import { afterAll, beforeAll } from '@jest/globals';
import mqtt from 'mqtt';
import { createMessageSource } from '../../api/mqtt/index.js';
import { connectStore } from '../../api/store/index.js';
import { HeldWrites } from '../support/database/held-writes.js';
import { GROUPS, testAcknowledgements } from '../support/mqtt/acknowledgement-order.js';
import { startMosquitto } from '../support/mqtt/mosquitto.js';
import { startMqttWire } from '../support/mqtt/wire.js';
import { startTestSystem } from '../support/system/index.js';
import { until } from '../support/until.js';

/** @import { Transport } from '../support/mqtt/acknowledgement-order.js' */
/** @import { MqttWire } from '../support/mqtt/wire.js' */
/** @import { TestSystem } from '../support/system/index.js' */

const MARK = 'test/mark';

const writes = new HeldWrites();
/** @type {Array<() => Promise<unknown>>} */
const cleanUps = [];
/** @type {MqttWire} between the subscriber of ingest and the broker */
let wire;
/** @type {TestSystem} */
let system;
/** @type {ReturnType<typeof createMessageSource>} */
let source;
/** @type {mqtt.MqttClient} */
let client;
let marks = 0;

beforeAll(async () => {
  const broker = await startMosquitto();
  cleanUps.push(() => broker.remove());
  wire = await startMqttWire(broker.url);
  cleanUps.push(() => wire.stop());
  system = await startTestSystem({
    settings: { LATEST_GROUPS: String(GROUPS), MQTT_URL: wire.url },
    openStore: writes.opens(connectStore),
    openSource: (context, deps) => {
      source = createMessageSource(context, deps);
      return source;
    },
  });
  cleanUps.push(() => system.stop());
  client = await mqtt.connectAsync(broker.url);
  cleanUps.push(() => client.endAsync(true));
  client.on('message', () => marks++);
  await client.subscribeAsync(MARK);
});
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** @param {string} device @param {object[]} elements @returns {Promise<unknown>} settles when the broker has acknowledged the message */
const publish = (device, elements) =>
  client.publishAsync(`iot/v1/${device}/measurements`, JSON.stringify(elements), { qos: 1 });

/** @type {Transport} */
const subscriber = {
  send(device, elements) {
    // Nothing else is published in the meantime, and acknowledgements leave in order of arrival.
    const index = wire.last().delivered.length;
    const isAcknowledged = () => wire.last().acknowledged.length > index;
    const published = publish(device, elements);
    const acknowledged = async () => {
      await published;
      await until(isAcknowledged, { what: 'the acknowledgement to the broker' });
    };
    return { isAcknowledged, acknowledged: acknowledged() };
  },

  // The acknowledgement of this message waits for the previous one. The test therefore waits for its stored value.
  async sendAnother(device) {
    await publish(device, [{ sensor_id: 's', ts: Date.now(), value: 1 }]);
    await until(async () => (await system.fetch(`/devices/${device}/sensors/s`)).status === 200);
    await writes.quiet();
  },

  // The subscriber of ingest publishes the mark on the connection that carries its acknowledgements.
  async flush() {
    const before = marks;
    source.send(MARK, Buffer.from('mark'));
    await until(() => marks > before, { what: 'the mark' });
  },
};

testAcknowledgements('external broker', { writes, transport: subscriber });

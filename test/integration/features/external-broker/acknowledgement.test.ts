import { afterAll, beforeAll } from '@jest/globals';
import mqtt from 'mqtt';
import { createMessageSource } from '../../../../api/mqtt/index.ts';
import { connectStore } from '../../../../api/store/index.ts';
import { HeldWrites } from '../../../support/database/held-writes.ts';
import { GROUPS, type Transport, testAcknowledgements } from '../../../support/mqtt/acknowledgement-order.ts';
import { startMosquitto } from '../../../support/mqtt/mosquitto.ts';
import { type MqttProxy, startMqttProxy } from '../../../support/mqtt/mqtt-proxy.ts';
import { startTestSystem, type TestSystem } from '../../../support/system/index.ts';
import { until } from '../../../support/until.ts';

const MARK = 'test/mark';

const writes = new HeldWrites();
const cleanUps: Array<() => Promise<unknown>> = [];
/** between the subscriber of ingest and the broker */
let proxy: MqttProxy;
let system: TestSystem;
let source: ReturnType<typeof createMessageSource>;
let client: mqtt.MqttClient;
let marks = 0;

beforeAll(async () => {
  const broker = await startMosquitto();
  cleanUps.push(() => broker.remove());
  proxy = await startMqttProxy(broker.url);
  cleanUps.push(() => proxy.stop());
  system = await startTestSystem({
    settings: { LATEST_GROUPS: String(GROUPS), MQTT_URL: proxy.url },
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

/** @returns settles when the broker has acknowledged the message */
const publish = (device: string, elements: object[]): Promise<unknown> =>
  client.publishAsync(`iot/v1/${device}/measurements`, JSON.stringify(elements), { qos: 1 });

const subscriber: Transport = {
  send(device, elements) {
    // Nothing else is published in the meantime, and acknowledgements leave in order of arrival.
    const index = proxy.last().delivered.length;
    const isAcknowledged = () => proxy.last().acknowledged.length > index;
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

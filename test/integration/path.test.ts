import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../support/clean-ups.ts';
import { drawnFiles, filesOnPath } from '../support/documents/path-files.ts';
import { startMosquitto } from '../support/mqtt/mosquitto.ts';
import { startMqttProxy } from '../support/mqtt/mqtt-proxy.ts';
import { startTestSystem } from '../support/system/index.ts';
import { isUnplugged } from '../support/unplugged.ts';

/** Without the feature that stamps commits, the store does it. */
const PLAIN_STAMPS = isUnplugged('api/features/changes') ? ['api/store/sending/stamps.ts'] : [];

const drawn = (broker: Parameters<typeof drawnFiles>[0]) =>
  [...drawnFiles(broker).filter((file) => !isUnplugged(file)), ...PLAIN_STAMPS].sort();

const hasExternalBroker = !isUnplugged('api/features/external-broker');

const afterwards = useCleanUps();

/** Messages before the recorded one: the first ones register the device, and write its last-seen time. */
const WARM_UP = 5;

/** @param url of a broker @returns a function that sends the next sample of one sensor, and settles at the PUBACK */
async function connectSensor(url: string): Promise<() => Promise<unknown>> {
  const client = await mqtt.connectAsync(url);
  afterwards(() => client.endAsync(true));
  let seconds = Math.floor(Date.now() / 1000) - 600;
  return () =>
    client.publishAsync('iot/v1/d1/measurements', JSON.stringify([{ n: 's', t: seconds++, v: 20.5 }]), {
      qos: 1,
    });
}

async function measure(send: () => Promise<unknown>) {
  for (let count = 0; count < WARM_UP; count++) await send();
  const files = await filesOnPath(send);
  const list = [...files].map(([file, functions]) => `${file}: ${functions.join(', ')}`);
  if (process.env['PATH_FILES']) console.log(`${files.size} files\n${list.join('\n')}`);
  return [...files.keys()];
}

test('Diagram docs/images/path.svg: message to the embedded broker: the source files that run are those of the diagram', async () => {
  const system = await startTestSystem();
  afterwards(() => system.stop());
  expect(await measure(await connectSensor(system.mqttUrl))).toEqual(drawn('embedded'));
});

(hasExternalBroker ? test : test.skip)(
  'Diagram docs/images/path.svg: message through Mosquitto: the source files that run are those of the diagram',
  async () => {
    const broker = await startMosquitto();
    afterwards(() => broker.remove());
    let onAcknowledged = () => {};
    const proxy = await startMqttProxy(broker.url, { delivered() {}, acknowledged: () => onAcknowledged() });
    afterwards(() => proxy.stop());
    const system = await startTestSystem({ settings: { MQTT_URL: proxy.url } });
    afterwards(() => system.stop());
    const publish = await connectSensor(broker.url);
    const send = async () => {
      const acknowledged = new Promise((resolve) => {
        onAcknowledged = () => resolve(undefined);
      });
      await Promise.all([publish(), acknowledged]);
    };
    expect(await measure(send)).toEqual(drawn('external'));
  },
);

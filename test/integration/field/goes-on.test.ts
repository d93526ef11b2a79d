import { beforeAll, describe, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useTestSystem } from '../../support/system/use.ts';

const LIMIT = 65_536;

const system = useTestSystem({ settings: { MAX_MESSAGE_BYTES: String(LIMIT) } });
let client: mqtt.MqttClient;
let connects = 0;
beforeAll(async () => {
  client = mqtt.connect(system.mqttUrl, { reconnectPeriod: 50, protocolVersion: 4 });
  system.beforeStop(() => client.endAsync(true));
  client.on('connect', () => connects++);
  await new Promise((resolve) => client.once('connect', resolve));
});

async function refusedOf(device: string): Promise<Array<[code: string, size: number]>> {
  const deadLetters = await system.all(`/dead-letters?limit=1000&device=${device}`);
  return deadLetters.map(({ codes, size }) => [Object.keys(codes).join(), size]);
}

const value = (number: number) => JSON.stringify({ sensor_id: 't', value: number });

const MESSAGES: Array<[title: string, topic: string, payload: string | Buffer, code: string | null]> = [
  [
    'nanomq#1236, MQTT.js#768: a message over the limit',
    'measurements',
    Buffer.alloc(200_000, 0x20),
    'too_large',
  ],
  [
    'paho.mqtt.python#760: one byte over the limit',
    'measurements',
    Buffer.alloc(LIMIT + 1, 0x20),
    'too_large',
  ],
  [
    'mqtt-lib PR#103: a message of 20 times the limit',
    'measurements',
    Buffer.alloc(20 * LIMIT, 0x20),
    'too_large',
  ],
  ['a message that is no JSON', 'measurements', '{', 'malformed'],
  ['a topic that is unknown', 'measurement', '{}', null],
  ['an empty message', 'measurements', '', 'malformed'],
];

describe.each([1, 2])(
  'QoS %d: a message that cannot be stored is acknowledged, and the next one is stored',
  (qos) => {
    test.each(MESSAGES.map(([title, ...rest], index) => ({ title, index, rest })))(
      'MQTT message that cannot be stored: $title: acknowledged, and the next message is stored',
      async ({ index, rest }) => {
        const [path, payload, code] = rest;
        const device = `on-${qos}-${index}`;
        const before = connects;
        const options = { qos: qos as 1 | 2 };
        await Promise.all([
          client.publishAsync(`iot/v1/${device}/measurements`, value(1), options),
          client.publishAsync(`iot/v1/${device}/${path}`, payload, options),
          client.publishAsync(`iot/v1/${device}/measurements`, value(2), options),
        ]);
        const items = await system.all(`/devices/${device}/sensors/t/measurements?order=asc`);
        expect(items.map((item) => item.value)).toEqual([1, 2]);
        expect((await refusedOf(device)).map(([found]) => found)).toEqual(code === null ? [] : [code]);
        expect(connects).toBe(before);
      },
    );
  },
);

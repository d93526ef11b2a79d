import { expect, test } from '@jest/globals';
import { startTestSystem } from '../../../support/system/index.ts';
import { useDevice, useTestSystem } from '../../../support/system/use.ts';

const system = useTestSystem();
const client = useDevice(system);

test('GET /unmatched-topics: no message yet: an empty list with source embedded', async () => {
  const answer = await system.get('/unmatched-topics');
  expect(answer).toEqual({ items: [], since: expect.stringMatching(/Z$/), source: 'embedded' });
  expect(Date.parse(answer.since)).toBeLessThanOrEqual(Date.now());
});

test('GET /unmatched-topics: messages on unknown topics: counted, with payload and a suggested topic or mapping', async () => {
  const before = Date.now();
  for (const [topic, payload] of [
    ['home/my-desk/temperature', '21.5'],
    ['iot/v1/my-desk/measurement', '{"sensor_id":"t","value":1}'],
    ['iot/v1/my-desk/measurement', Buffer.from([0xff, 0x00])],
    ['iot/v1/my-desk/measurements', '{"sensor_id":"t","value":1}'],
  ] as const) {
    await client.publish(topic, payload);
  }
  const { items } = await system.get('/unmatched-topics');
  expect(items).toEqual([
    {
      topic: 'iot/v1/my-desk/measurement',
      count: 2,
      ts: expect.stringMatching(/Z$/),
      size: 2,
      payload_base64: '/wA=',
      suggestion: 'iot/v1/my-desk/measurements',
      mapping: null,
    },
    {
      topic: 'home/my-desk/temperature',
      count: 1,
      ts: expect.stringMatching(/Z$/),
      size: 4,
      payload_base64: Buffer.from('21.5').toString('base64'),
      suggestion: null,
      mapping: expect.stringMatching(
        /^mappings:\n {2}- name: home-device-sensor\n {4}topic: home\/\{device\}\/\{sensor\}\n/,
      ),
    },
  ]);
  expect(Date.parse(items[0].ts)).toBeGreaterThanOrEqual(before);
});

test('GET /unmatched-topics: process has no MQTT connection: the list has source none', async () => {
  const reader = await startTestSystem({
    settings: { ROLE: 'http', MQTT_URL: system.mqttUrl, CURSOR_SECRET: 'the same in all processes' },
  });
  try {
    expect(await reader.get('/unmatched-topics')).toMatchObject({ items: [], source: 'none' });
    expect((await reader.get('/pipeline')).ingest.mqtt).toMatchObject({ embedded: false });
  } finally {
    await reader.stop();
  }
});

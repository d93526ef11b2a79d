import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { MappedTopics } from '../../../../api/features/mappings/topics.ts';
import type { Refusals } from '../../../../api/store/dead-letters.ts';
import type { Identity } from '../../../../schema/ids.ts';
import { topicContract } from '../../../../schema/topics.ts';
import { useDirectory } from '../../../support/directory.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';
import { until } from '../../../support/until.ts';

const NOW = 1_795_348_840_000;

const directory = useDirectory('mappings');
const MQTT_MAPPINGS = join(directory, 'mappings.yaml');
writeFileSync(
  MQTT_MAPPINGS,
  `mappings:
  - name: farm
    topic: farm/{device}/up
    skip: [{ pointer: /test, is: true }]
    time: { pointer: /t, unit: s }
    values:
      - { pointer: /v, sensor: v, numbers: text, unit: { pointer: /u } }
      - { pointer: /w, sensor: w, unit: W, type: power }
  - { name: config, topic: 'farm/{device}/config', describes: { sensor: { pointer: /sensor }, unit: { pointer: /unit } } }
  - { name: live, topic: ['iot-/+/{device}', 'home/+/{device}'], values: [{ all: '' }] }
  - { name: shed, topic: 'shed/{device}', values: [{ all: '', ignore: [uptime] }] }
`,
);

let pipeline: MemoryPipeline;
afterEach(() => pipeline?.stop());

async function start(settings?: Record<string, string>) {
  pipeline = await startMemoryPipeline({ settings: { MQTT_MAPPINGS, ...settings }, clock: () => NOW });
}

const reader = () =>
  pipeline.ingest.topics.readers.find((each) => each instanceof MappedTopics) as MappedTopics;

const listed = () => reader().unmatched.list();

const send = (topic: string, content: unknown, rest?: object) =>
  pipeline.accept(topic, JSON.stringify(content), rest);

const deviceOf = async (name: string) =>
  Object.fromEntries(
    (await pipeline.store.devices.sensors(await keyOf(name))).map(({ name: sensor, unit, type }) => [
      sensor,
      [unit, type],
    ]),
  );

async function keyOf(name: string) {
  const { groupOf, identifyDevice } = await import('../../../../schema/ids.ts');
  const { id, bytes } = identifyDevice(name) as Identity;
  return { id, bytes, group: groupOf(bytes, 4) };
}

test('Message on a mapped topic: valid values: stored with time, unit and type, published to live readers, and counted', async () => {
  await start();
  expect(await send('farm/a/up', { t: NOW / 1000 - 5, v: '1.5', w: 2, u: 'V' })).toBe('accepted');
  expect(await pipeline.latest('a')).toEqual({ v: [NOW - 5000, 1.5], w: [NOW - 5000, 2] });
  expect(await deviceOf('a')).toEqual({ v: ['V', null], w: ['W', 'power'] });
  expect(pipeline.published.map(({ sensor }) => sensor).sort()).toEqual(['v', 'w']);
  expect(await pipeline.lastSeen('a')).toBe(NOW);
  expect(await pipeline.metric('iot_ingest_mapped_messages_total{mapping="farm",result="read"}')).toBe(1);
  expect(await pipeline.metric('iot_ingest_messages_total{result="settled"}')).toBe(1);
});

test('Message on a mapped topic: its unit changes: stored; a fixed unit of the mapping does not replace that of a birth', async () => {
  await start();
  const birth = { session: NOW - 1000, sensors: [{ sensor_id: 'w', unit: 'kW' }] };
  await send('iot/v1/a/birth', birth);
  await send('farm/a/up', { v: 1, w: 1, u: 'C' });
  await send('farm/a/up', { v: 2, w: 2, u: 'F' }, { receivedAt: NOW + 1000 });
  expect(await deviceOf('a')).toEqual({ v: ['F', null], w: ['kW', 'power'] });
});

test('Message on a mapped topic: one of two values is no number: a dead letter is stored, and the other value', async () => {
  await start();
  await send('farm/a/up', { t: NOW / 1000, v: 'high', w: 2 });
  expect(await pipeline.latest('a')).toEqual({ w: [NOW, 2] });
  expect(await pipeline.deadLetters()).toEqual([{ not_numeric: 1 }]);
});

test.each([
  [{ x: 1 }, 'malformed'],
  [{ t: [], v: 1 }, 'bad_timestamp'],
  [{ t: NOW / 1000 + 86_400, v: 1 }, 'in_future'],
])('Message on a mapped topic: payload %j: refused, dead letter of code %s', async (content, code) => {
  await start();
  expect(await send('farm/a/up', content)).toBe('refused');
  expect(await pipeline.deadLetters()).toEqual([{ [code]: 1 }]);
});

test('Message on a mapped topic: empty, or skipped by a condition: acknowledged, not stored, not listed as unmatched', async () => {
  await start();
  expect(await send('farm/a/up', { test: true, v: 1 })).toBe('accepted');
  expect(await pipeline.accept('farm/a/up', '')).toBe('accepted');
  expect(await pipeline.lastSeen('a')).toBeUndefined();
  expect(await pipeline.metric('iot_ingest_mapped_messages_total{mapping="farm",result="skipped"}')).toBe(2);
  expect(listed()).toEqual([]);
});

test('Message on a mapped topic: sender may not send for the device: forbidden with the reason, and no dead letter', async () => {
  await start();
  const permits = (device: string, topic: string) => `${device} ${topic}` === 'b farm/b/up';
  const refusals: Refusals[] = [];
  const options = { permits, onRefused: (refused: Refusals) => refusals.push(refused) };
  expect(await send('farm/a/up', { v: 1 }, options)).toBe('forbidden');
  expect(await send('farm/a/config', { sensor: 'v' }, options)).toBe('forbidden');
  expect(refusals).toMatchObject([[{ code: 'forbidden' }], [{ code: 'forbidden' }]]);
  expect(await pipeline.metric('iot_ingest_messages_total{result="forbidden"}')).toBe(2);
  expect(await pipeline.metric('iot_ingest_messages_total{result="unsettled"}')).toBe(0);
  await send('farm/b/up', { v: 1 }, { permits });
  expect(await pipeline.lastSeen('a')).toBeUndefined();
  expect(await pipeline.lastSeen('b')).toBe(NOW);
  expect(await pipeline.deadLetters()).toEqual([]);
});

test('Message on a mapped topic: AUTO_REGISTER is off: a description registers a sensor, a birth stores the waiting values', async () => {
  await start({ AUTO_REGISTER: 'false' });
  await send('farm/a/up', { t: NOW / 1000, v: 1 });
  expect(await pipeline.deadLetters()).toEqual([{ unknown_device: 1 }]);
  await send('farm/b/config', { sensor: 'v', unit: 'V' });
  await send('farm/b/up', { t: NOW / 1000, v: 7 });
  expect(await pipeline.latest('b')).toEqual({ v: [NOW, 7] });
  expect(await deviceOf('b')).toEqual({ v: ['V', null] });
  await send('iot/v1/a/birth', { session: NOW, sensors: [{ sensor_id: 'v' }] });
  await until(async () => (await pipeline.latest('a'))['v']?.[1] === 1);
});

test('Message on a mapped topic: its dead letter is replayed: all values are stored', async () => {
  await start({ AUTO_REGISTER: 'false' });
  await send('farm/a/up', { t: NOW / 1000, v: 3, w: 4 });
  const [stored] = await pipeline.storedDeadLetters();
  await send('farm/a/config', { sensor: 'v' });
  await send('farm/a/config', { sensor: 'w' });
  const result = await pipeline.ingest.replay(stored as never);
  expect(result).toEqual({ accepted: 2, refused: [] });
  expect(await pipeline.latest('a')).toEqual({ v: [NOW, 3], w: [NOW, 4] });
});

test('Mapping with a wide topic pattern: topics of Millrace match: never mapped', async () => {
  await start();
  await send('iot/live/d', { a: 1 });
  await send('iot/v2/d', { a: 1 });
  expect(await pipeline.lastSeen('d')).toBeUndefined();
  expect(listed()).toEqual(
    ['iot/v2/d', 'iot/live/d'].map((topic) => expect.objectContaining({ topic, count: 1, size: 7 })),
  );
  await send('home/x/d', { a: 1 });
  expect(await pipeline.latest('d')).toEqual({ a: [NOW, 1] });
});

// A feature that is not listed leaves its topics to mappings.
test('Mapping: topics of another feature: refused with this feature, mapped without it', async () => {
  const wide = join(directory, 'wide.yaml');
  writeFileSync(wide, "mappings: [{ name: wide, topic: '+/x/{device}', values: [{ all: '' }] }]");
  const own = join(directory, 'own.yaml');
  writeFileSync(own, "mappings: [{ name: own, topic: 'plant1/x/{device}', values: [{ all: '' }] }]");
  const further = { parse: () => null, filters: [], prefixes: ['plant1/'] };
  pipeline = await startMemoryPipeline({
    settings: { MQTT_MAPPINGS: wide },
    clock: () => NOW,
    contract: topicContract([further]),
  });
  expect(await send('plant1/x/d', { a: 1 })).toBe('unknown_topic');
  expect(await send('plant2/x/d', { a: 2 })).toBe('accepted');
  await pipeline.stop();
  const starting = startMemoryPipeline({
    settings: { MQTT_MAPPINGS: own },
    contract: topicContract([further]),
  });
  await expect(starting).rejects.toThrow('plant1/x/{device} must not begin with plant1/');
  await start({ MQTT_MAPPINGS: own });
  expect(await send('plant1/x/d', { a: 1 })).toBe('accepted');
});

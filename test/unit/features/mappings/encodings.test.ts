import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readMappings } from '../../../../api/features/mappings/mappings.ts';
import { useDirectory } from '../../../support/directory.ts';
import { READ, REFUSED, throughEachDoor } from '../../../support/payloads/encodings.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const NOW = 1_795_348_840_000;

const directory = useDirectory('encodings');
const MQTT_MAPPINGS = join(directory, 'mappings.yaml');

const MAPPINGS = `mappings:
  - { name: farm, topic: 'farm/{device}', values: [{ pointer: /Küche, sensor: Küche, unit: { pointer: /u } }] }
  - { name: bare, topic: 'bare/{device}', words: { geöffnet: 1 }, values: [{ pointer: '', sensor: Küche }] }
  - { name: config, topic: 'config/{device}', describes: { sensor: { pointer: /s }, unit: { pointer: /u } } }
`;

/** By name: a topic, and a payload that gives the device a sensor `Küche`. */
const DOORS: Record<string, [path: string, text: string]> = {
  'mapping of JSON': ['farm/D', '{"Küche":1,"u":"°C"}'],
  'mapping of a bare text': ['bare/D', 'geöffnet'],
  'mapping with a description': ['config/D', '{"s":"Küche","u":"°C"}'],
};

let pipeline: MemoryPipeline;
let devices = 0;
beforeAll(async () => {
  writeFileSync(MQTT_MAPPINGS, MAPPINGS);
  pipeline = await startMemoryPipeline({ settings: { MQTT_MAPPINGS }, clock: () => NOW });
});
afterAll(() => pipeline?.stop());

async function send(door: string, encode: (text: string) => Buffer, contentType?: string) {
  const [topic, text] = DOORS[door] as [string, string];
  const device = `d${++devices}`;
  const before = (await pipeline.deadLetters()).length;
  const isDescription = door === 'mapping with a description';
  // A description registers no device.
  if (isDescription) await pipeline.accept(`iot/v1/${device}/birth`, '{"sensors":[]}');
  const outcome = await pipeline.accept(
    topic.replace('D', device),
    encode(text),
    contentType ? { contentType } : {},
  );
  const key = pipeline.keyOf(device);
  const rows = await pipeline.store.devices.sensors(key);
  return {
    outcome,
    sensors: rows.map(({ name, unit }) => [name, unit]),
    codes: (await pipeline.deadLetters()).slice(before),
  };
}

test.each(throughEachDoor(DOORS, READ))(
  'Encoding: %s in %s: read as plain UTF-8 is',
  async (door, _, encode, contentType) => {
    const plain = await send(door, (text) => Buffer.from(text));
    expect(plain.sensors.map(([name]) => name)).toEqual(['Küche']);
    expect(await send(door, encode, contentType)).toEqual(plain);
  },
);

test.each(throughEachDoor(DOORS, REFUSED))(
  'Encoding: %s in %s: refused, and nothing of it is stored',
  async (door, _, encode) => {
    const { sensors, codes } = await send(door, encode);
    expect(sensors).toEqual([]);
    expect(codes).toEqual([{ [_ === 'UTF-32' ? 'unknown_format' : 'malformed']: 1 }]);
  },
);

test.each(READ)('Encoding: file of mappings in %s: read, or refused with its encoding', (title, encode) => {
  const path = join(directory, 'file.yaml');
  writeFileSync(path, encode(MAPPINGS));
  if (title !== 'declared Windows-1252') expect(readMappings(path)).toHaveLength(3);
  else
    expect(() => readMappings(path)).toThrow(
      expect.objectContaining({
        code: 'bad_settings',
        message: expect.stringMatching(/seems to be Windows-1252/),
      }),
    );
});

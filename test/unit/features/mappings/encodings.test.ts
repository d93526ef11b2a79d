import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readMappings } from '../../../../api/features/mappings/mappings.ts';
import { useDirectory } from '../../../support/directory.ts';
import { type Door, READ, testDoors } from '../../../support/payloads/encodings.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const NOW = 1_795_348_840_000;

const directory = useDirectory('encodings');
const MQTT_MAPPINGS = join(directory, 'mappings.yaml');

const MAPPINGS = `mappings:
  - { name: farm, topic: 'farm/{device}', values: [{ pointer: /Küche, sensor: Küche, unit: { pointer: /u } }] }
  - { name: bare, topic: 'bare/{device}', words: { geöffnet: 1 }, values: [{ pointer: '', sensor: Küche }] }
  - { name: config, topic: 'config/{device}', describes: { sensor: { pointer: /s }, unit: { pointer: /u } } }
`;

const DOORS: Record<string, Door> = {
  'mapping of JSON': ['farm/D', '{"Küche":1,"u":"°C"}'],
  'mapping of a bare text': ['bare/D', 'geöffnet'],
  'mapping with a description': ['config/D', '{"s":"Küche","u":"°C"}'],
};

let pipeline: MemoryPipeline;
beforeAll(async () => {
  writeFileSync(MQTT_MAPPINGS, MAPPINGS);
  pipeline = await startMemoryPipeline({ settings: { MQTT_MAPPINGS }, clock: () => NOW });
});
afterAll(() => pipeline?.stop());

testDoors(
  DOORS,
  () => pipeline,
  // A description registers no device.
  (door, device) =>
    door === 'mapping with a description' && pipeline.accept(`iot/v1/${device}/birth`, '{"sensors":[]}'),
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

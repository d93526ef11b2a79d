import { afterAll, beforeAll } from '@jest/globals';
import { type Door, testDoors } from '../../support/payloads/encodings.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

const NOW = 1_795_348_840_000;

const DOORS: Record<string, Door> = {
  'map of sensors': ['iot/v1/D/measurements', '{"Küche":1}'],
  'plain JSON': ['iot/v1/D/measurements', '[{"sensor_id":"Küche","value":1}]'],
  'SenML JSON': ['iot/v1/D/measurements', '[{"n":"Küche","v":1}]'],
  birth: ['iot/v1/D/birth', '{"site":"Büro","label":"Büro","sensors":[{"sensor_id":"Küche","unit":"°C"}]}'],
};

let pipeline: MemoryPipeline;
beforeAll(async () => {
  pipeline = await startMemoryPipeline({ clock: () => NOW });
});
afterAll(() => pipeline?.stop());

testDoors(DOORS, () => pipeline);

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { READ, REFUSED, throughEachDoor } from '../../support/payloads/encodings.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

const NOW = 1_795_348_840_000;

/** The doors: a topic, and a payload that gives the device a sensor \`Küche\` or a label, by name. */
const DOORS: Record<string, [path: string, text: string]> = {
  'map of sensors': ['iot/v1/D/measurements', '{"Küche":1}'],
  'plain JSON': ['iot/v1/D/measurements', '[{"sensor_id":"Küche","value":1}]'],
  'SenML JSON': ['iot/v1/D/measurements', '[{"n":"Küche","v":1}]'],
  birth: ['iot/v1/D/birth', '{"site":"Büro","label":"Büro","sensors":[{"sensor_id":"Küche","unit":"°C"}]}'],
};

let pipeline: MemoryPipeline;
let devices = 0;
beforeAll(async () => {
  pipeline = await startMemoryPipeline({ clock: () => NOW });
});
afterAll(() => pipeline?.stop());

async function send(door: string, encode: (text: string) => Buffer, contentType?: string) {
  const [topic, text] = DOORS[door] as [string, string];
  const device = `d${++devices}`;
  const before = (await pipeline.deadLetters()).length;
  const outcome = await pipeline.accept(
    topic.replace('D', device),
    encode(text),
    contentType ? { contentType } : {},
  );
  const key = pipeline.keyOf(device);
  const rows = await pipeline.store.devices.sensors(key);
  const row = await pipeline.store.devices.device(key);
  return {
    outcome,
    sensors: rows.map(({ name, unit }) => [name, unit]),
    labels: row && [row.site, row.label].filter(Boolean),
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
    const { sensors, labels, codes } = await send(door, encode);
    expect({ sensors, labels: labels ?? [] }).toEqual({ sensors: [], labels: [] });
    expect(codes).toEqual([{ [_ === 'UTF-32' ? 'unknown_format' : 'malformed']: 1 }]);
  },
);

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readMappings } from '../../../api/ingest/mappings/index.ts';
import { useDirectory } from '../../support/directory.ts';
import { encodePayload } from '../../support/sparkplug/payload.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

type Encode = (text: string) => Buffer;

const NOW = 1_795_348_840_000;

const directory = useDirectory('encodings');
const MQTT_MAPPINGS = join(directory, 'mappings.yaml');

const MAPPINGS = `mappings:
  - { name: farm, topic: 'farm/{device}', values: [{ pointer: /Küche, sensor: Küche, unit: { pointer: /u } }] }
  - { name: bare, topic: 'bare/{device}', words: { geöffnet: 1 }, values: [{ pointer: '', sensor: Küche }] }
  - { name: config, topic: 'config/{device}', describes: { sensor: { pointer: /s }, unit: { pointer: /u } } }
`;

/** The doors: a topic, and a payload that gives the device a sensor \`Küche\` or a label, by name. */
const DOORS: Record<string, [path: string, text: string]> = {
  'map of sensors': ['iot/v1/D/measurements', '{"Küche":1}'],
  'plain JSON': ['iot/v1/D/measurements', '[{"sensor_id":"Küche","value":1}]'],
  'SenML JSON': ['iot/v1/D/measurements', '[{"n":"Küche","v":1}]'],
  birth: ['iot/v1/D/birth', '{"site":"Büro","label":"Büro","sensors":[{"sensor_id":"Küche","unit":"°C"}]}'],
  'mapping of JSON': ['farm/D', '{"Küche":1,"u":"°C"}'],
  'mapping of a bare text': ['bare/D', 'geöffnet'],
  'mapping with a description': ['config/D', '{"s":"Küche","u":"°C"}'],
};

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

const READ: Array<[title: string, encode: (text: string) => Buffer, contentType: string | undefined]> = [
  ['UTF-8 with a mark', (text) => Buffer.from(`\ufeff${text}`), undefined],
  ['UTF-16 LE with a mark', (text) => utf16(`\ufeff${text}`), undefined],
  ['UTF-16 BE with a mark', (text) => utf16(`\ufeff${text}`).swap16(), undefined],
  ['UTF-16 LE', utf16, undefined],
  ['UTF-16 BE', (text) => utf16(text).swap16(), undefined],
  ['UTF-8 with CRLF and NUL bytes after it', (text) => Buffer.from(`${text}\r\n\0\0`), undefined],
  ['declared Windows-1252', (text) => Buffer.from(text, 'latin1'), 'application/json; charset=windows-1252'],
];

const REFUSED = [
  ['Windows-1252', (text) => Buffer.from(text, 'latin1')],
  [
    'UTF-32',
    (text) =>
      Buffer.concat(
        [...`\ufeff${text}`].map((char) => Buffer.from(new Uint32Array([char.codePointAt(0) ?? 0]).buffer)),
      ),
  ],
] as Array<[title: string, encode: (text: string) => Buffer]>;

/** @returns each door with each case */
const throughEachDoor = <T>(
  cases: T[],
): Array<[door: string, title: string, encode: Encode, contentType?: string]> =>
  Object.keys(DOORS).flatMap((door) => cases.map((each) => [door, each].flat() as [string, string, Encode]));

describe('Encoding of a message', () => {
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
    const row = await pipeline.store.devices.device(key);
    return {
      outcome,
      sensors: rows.map(({ name, unit }) => [name, unit]),
      labels: row && [row.site, row.label].filter(Boolean),
      codes: (await pipeline.deadLetters()).slice(before),
    };
  }

  test.each(throughEachDoor(READ))(
    'Encoding: %s in %s: read as plain UTF-8 is',
    async (door, _, encode, contentType) => {
      const plain = await send(door, (text) => Buffer.from(text));
      expect(plain.sensors.map(([name]) => name)).toEqual(['Küche']);
      expect(await send(door, encode, contentType)).toEqual(plain);
    },
  );

  test.each(throughEachDoor(REFUSED))(
    'Encoding: %s in %s: refused, and nothing of it is stored',
    async (door, _, encode) => {
      const { sensors, labels, codes } = await send(door, encode);
      expect({ sensors, labels: labels ?? [] }).toEqual({ sensors: [], labels: [] });
      expect(codes).toEqual([{ [_ === 'UTF-32' ? 'unknown_format' : 'malformed']: 1 }]);
    },
  );

  test.each(READ.slice(0, 5))('Encoding: status in %s: read', async (_, encode) => {
    const device = `status-${++devices}`;
    await pipeline.accept(`iot/v1/${device}/birth`, '{"sensors":[]}');
    expect(await pipeline.accept(`iot/v1/${device}/status`, encode('offline'))).toBe('accepted');
    expect(pipeline.ingest.peek(pipeline.keyOf(device).id)).toMatchObject({ state: 'offline' });
  });

  test('Encoding: Sparkplug birth with names in Windows-1252 and UTF-16: only these metrics are refused', async () => {
    const metrics = ['good', 'K?che', '?x'].map((name) => ({
      name,
      ts: NOW,
      type: 'double' as const,
      value: 1,
    }));
    const payload = encodePayload({ ts: NOW, seq: 0, metrics });
    payload[payload.indexOf('?che')] = 0xfc;
    payload[payload.indexOf('?x')] = 0;
    await pipeline.accept('spBv1.0/plant/NBIRTH/edge', payload);
    expect(Object.keys(await pipeline.latest('plant/edge'))).toEqual(['good']);
    expect((await pipeline.deadLetters()).at(-1)).toEqual({ bad_id: 2 });
  });

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
});

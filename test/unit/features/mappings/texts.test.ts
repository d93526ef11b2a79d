import { expect, test } from '@jest/globals';
import { Mappings, parseMappings } from '../../../../api/features/mappings/mappings.ts';
import { readSamples } from '../../../support/features/mappings.ts';

const mappings = new Mappings(
  parseMappings(
    `mappings:
  - use: zigbee2mqtt
  - { use: tasmota, numbers: ['Weight'] }
  - use: chirpstack
  - { name: one, topic: 'one/{device}', values: [{ pointer: /v, sensor: v }] }
  - { name: text, topic: 'text/{device}', values: [{ pointer: /v, sensor: v, numbers: text }] }
  - { name: all, topic: 'all/{device}', words: { ON: 1 }, values: [{ all: '', numbers: ['*temp'] }] }
`,
    'mappings.yaml',
  ),
);

function read(topic: string, content: unknown) {
  const all = readSamples(mappings, topic, Buffer.from(JSON.stringify(content)));
  return {
    values: Object.fromEntries(Object.entries(all.values).map(([name, samples]) => [name, samples[0]?.[1]])),
    skipped: all.skipped,
    refused: all.refused.map(({ code, path }) => `${code} ${path}`),
  };
}

/** Colors, ids, versions, serial numbers and MAC addresses. */
const IDS = [
  '0012345678',
  '1e5',
  '12e3',
  '0x10',
  '00158d0001e2',
  '+5',
  '.5',
  '5.',
  '1_000',
  '1.2.3',
  'Infinity',
  'NaN',
  '1,5',
  '٣',
  '',
];

test.each([...IDS, '12345678', ' 12 '])('Mapping: text %j, no setting: never a number', (text) => {
  expect(read('one/d', { v: text })).toEqual({ values: {}, skipped: 0, refused: ['not_numeric v'] });
  expect(read('all/d', { v: text, t: 1 }).values).toEqual({ t: 1 });
});

test.each([
  ['21.5', 21.5],
  [' 12 ', 12],
  ['-0.5', -0.5],
  ['1e5', 1e5],
])('Mapping: text %j, numbers: text: %d', (text, value) => {
  expect(read('text/d', { v: text }).values).toEqual({ v: value });
  expect(read('all/d', { temp: text, 'b.temp': text, s: 'ON' }).values).toEqual({
    temp: value,
    [String.raw`b\.temp`]: value,
    s: 1,
  });
});

test.each([
  // herdsman-converters#2618: a converter rounds with toFixed. zigbee2mqtt: a color and a serial number of digits.
  [
    'zigbee2mqtt/d',
    { temperature: '21.5', color_hex: '00ff00', serial: '12345678' },
    { temperature: 21.5 },
    ['not_numeric serial'],
  ],
  // Tasmota: the id of a card; a scale that the user names.
  ['tele/d/SENSOR', { RDM6300: { UID: '12345678' }, Weight: '1.5' }, { Weight: 1.5 }, []],
  // ChirpStack: a codec rounds with toFixed; the version 1.10 would become 1.1.
  [
    'application/1/device/d/event/up',
    { object: { TempC_SHT: '21.50', sn: '6412E3', version: '1.10' } },
    { TempC_SHT: 21.5 },
    ['not_numeric object.version'],
  ],
])('Preset of mappings: topic %s, payload %j: numbers %j, refused %j', (topic, payload, values, refused) => {
  expect(read(topic, payload)).toMatchObject({ values, refused });
});

test('Mappings: wrong members numbers: refused with their lines', () => {
  const file =
    "mappings:\n  - { name: a, topic: 'a/{device}', values: [{ pointer: /v, numbers: [v] }, { all: '', numbers: 7 }] }\n";
  expect(() => parseMappings(file, 'm.yaml')).toThrow(/numbers: text|must be text, or a list/);
});

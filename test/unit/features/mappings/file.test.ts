import { expect, test } from '@jest/globals';
import { Mappings, parseMappings } from '../../../../api/features/mappings/mappings.ts';
import { readMapped, readSamples } from '../../../support/features/mappings.ts';

function problemsOf(text: string): string[] {
  try {
    parseMappings(text, 'm.yaml');
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    expect(code).toBe('bad_settings');
    return message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
  return [];
}

const entry = (members: string) => `mappings:\n  - ${members}\n`;
const VALID = "name: a, topic: 'a/{device}', values: [{ pointer: /v }]";

test('Mappings file: ten mistakes: each is reported with its line, column and member', () => {
  const text = `mappings:
  - use: zigbee3mqtt
  - name: Green House
    topic: greenhouse/{device/{sensor}
    values:
      - { pointer: temp, unit: 3 }
      - { all: '', pointer: /x }
    tme: /t
  - name: b
    topic: iot/{device}
    values: []
  - use: shelly
    base: x
`;
  expect(problemsOf(text)).toEqual([
    expect.stringMatching(/^m\.yaml:2:5: mappings\[0\]\.use must be a preset: chirpstack, .*zigbee2mqtt$/),
    'm.yaml:3:5: mappings[1].name must be up to 64 of a-z, 0-9, - and _',
    'm.yaml:4:5: mappings[1].topic must have +, # and {name} as whole levels, and names of a-z, 0-9 and _',
    "m.yaml:6:11: mappings[1].values[0].pointer must be a JSON Pointer such as /object/temperature, or '' for the whole payload",
    'm.yaml:6:26: mappings[1].values[0].unit must be a text such as °C, or {pointer: /unit}',
    'm.yaml:7:9: mappings[1].values[1] must have either pointer, for one value, or all, for every value below',
    'm.yaml:8:5: mappings[1].tme is not a member that this place takes',
    'm.yaml:10:5: mappings[2].topic must not begin with iot or $: these topics have a meaning of their own',
    'm.yaml:11:5: mappings[2].values must have at least one value',
    'm.yaml:13:5: mappings[3].base cannot be set: topics of shelly have no common beginning',
  ]);
});

test.each([
  ['', /^m\.yaml:1:1: must be \{mappings: \[…\]\}$/],
  ['7', /must be \{mappings/],
  ['mappings: 7', /^m\.yaml:1:1: mappings must be a list of mappings$/],
  ['mappings: []', /mappings must have at least one mapping/],
  ['mappings: [7]', /mappings\[0\] must be a mapping/],
  ['mappings: [\n', /^m\.yaml:2:1: .*quote texts with braces/],
  [entry('{ name: a, topic: a/{device} }'), /^m\.yaml:2:25: Unexpected .*quote texts with braces/],
  ['mappings: []\nmappings: []', /^m\.yaml:2:1: Map keys must be unique/],
  [`${entry(`{ ${VALID} }`)}  - { ${VALID} }`, /two mappings have the name a/],
  [entry(`{ name: a, topic: 'a/b', values: [{ pointer: /v }] }`), /topic must have a level \{device\}/],
  [
    entry(`{ name: a, topic: 'a/{device}', values: [{ pointer: /v, sensor: '{room}' }] }`),
    /a level \{room\}/,
  ],
  [entry(`{ name: a, topic: '{device}/+', values: [{ pointer: /v }] }`), /it would match every topic/],
  [entry(`{ name: a, topic: 'a/#/{device}', values: [{ pointer: /v }] }`), /# as its last level only/],
  [
    entry(`{ name: a, topic: '{device}/a/{device}', values: [{ pointer: /v }] }`),
    /two levels of the same name/,
  ],
  [entry(`{ name: a, topic: 'a/{device}' }`), /must have either values, or describes, or skip/],
  [entry(`{ ${VALID}, describes: {} }`), /must have either values, or describes/],
  [
    entry(`{ ${VALID}, time: { pointer: /t, zone: Mars/Base } }`),
    /time\.zone must be a time zone such as Europe\/Berlin, or required/,
  ],
  [entry(`{ ${VALID}, skip: [{ pointer: /x }] }`), /skip\[0\] must have either is, with values, or missing/],
  [
    entry(`{ ${VALID}, match: [{ pointer: /x, text: '*{a}*{b}' }] }`),
    /match\[0\]\.text must not have more than 3 of \{name\} and \*/,
  ],
  [entry(`{ ${VALID}, words: { a: yes } }`), /words\.a must be a number/],
])('Mappings file: content %j: refused with the place of the mistake', (text, message) => {
  expect(problemsOf(text)[0]).toMatch(message);
});

test('Mappings file: YAML aliases that expand exponentially: refused', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
  for (const [index, name] of 'b c d e f g h'.split(' ').entries()) {
    const before = String.fromCharCode('a'.charCodeAt(0) + index);
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join()}]`);
  }
  expect(problemsOf(bomb.join('\n'))).toEqual([expect.stringMatching(/alias/)]);
});

test('Mappings file: a preset with overrides: topic, time zone, ignored sensors and units follow the overrides', () => {
  const text = `mappings:
  - { use: zigbee2mqtt, base: home/zigbee, ignore: [linkquality], sensors: { temperature: { unit: °F } } }
  - { use: tasmota, zone: Europe/Berlin }
`;
  const mappings = new Mappings(parseMappings(text, 'm.yaml'));
  const receivedAt = Date.parse('2026-11-22T12:00:00Z');
  const read = (topic: string, payload: unknown) =>
    readMapped(mappings, topic, Buffer.from(JSON.stringify(payload)), receivedAt);
  expect(read('home/zigbee/attic', { temperature: 70, linkquality: 3 })).toMatchObject({
    values: { temperature: [[receivedAt, 70]] },
    units: { temperature: '°F' },
    skipped: 0,
  });
  expect(mappings.match('zigbee2mqtt/attic')).toBeNull();
  expect(read('tele/x/SENSOR', { Time: '2026-11-22T12:30:00', A: { Temperature: 1 } })).toMatchObject({
    values: { 'A.Temperature': [[Date.parse('2026-11-22T11:30:00Z'), 1]] },
  });
});

test('Subscriptions of mappings: topics of values: shared; of descriptions: not shared; skipped ones: absent', () => {
  const mappings = new Mappings(
    parseMappings(
      `mappings:
  - { name: a, topic: ['a/{device}/{sensor}', 'b/+/{device}'], values: [{ pointer: '' }] }
  - { name: b, topic: 'b/+/{device}', values: [{ pointer: '' }] }
  - { name: c, topic: 'c/{device}', describes: { unit: V } }
  - { name: d, topic: 'd/#', skip: true }
`,
      'm.yaml',
    ),
  );
  expect(mappings.filters).toEqual({ shared: ['a/+/+', 'b/+/+'], own: ['c/+'], covered: [] });
  expect(mappings.match('d')?.mapping.name).toBe('d');
  expect(mappings.match('d/e/f')?.mapping.name).toBe('d');
});

test('Subscriptions of mappings: one topic filter covers another: only the wider filter is subscribed', () => {
  const filtersOf = (...topics: string[]) => {
    const list = JSON.stringify(topics);
    const text = entry(`{ name: a, topic: ${list}, device: d, values: [{ pointer: '' }] }`);
    return new Mappings(parseMappings(text, 'm.yaml')).filters;
  };
  expect(filtersOf('a/b', 'a/+', 'a/b/c')).toMatchObject({ shared: ['a/+', 'a/b/c'], covered: ['a/b'] });
  expect(filtersOf('a/#', 'a/+/c', 'a')).toMatchObject({ shared: ['a/#'], covered: ['a/+/c', 'a'] });
  expect(filtersOf('a/+', 'a/#')).toMatchObject({ shared: ['a/#'], covered: ['a/+'] });
  expect(filtersOf('+/b', 'a/+')).toMatchObject({ shared: ['+/b', 'a/+'], covered: [] });
  const preset = parseMappings(entry('{ use: homeassistant }'), 'm.yaml');
  const { shared, covered } = new Mappings(preset).filters;
  expect(shared).toEqual(expect.arrayContaining(['+/sensor/+/state', '+/binary_sensor/+/state']));
  expect(covered).toEqual(['homeassistant/sensor/+/state', 'homeassistant/binary_sensor/+/state']);
});

const RECEIVED = Date.parse('2026-11-22T12:00:00Z');

/** @param time the member of the mapping */
function timeOf(time: string, value: unknown) {
  const text = entry(`{ name: a, topic: 'a/{device}', time: ${time}, values: [{ pointer: /v }] }`);
  const mappings = new Mappings(parseMappings(text, 'm.yaml'));
  const payload = Buffer.from(JSON.stringify({ t: value, v: 1 }));
  const read = readSamples(mappings, 'a/d', payload, RECEIVED);
  return read.refused[0]?.code ?? new Date(Number(read.values['v']?.[0]?.[0])).toISOString();
}

test.each([
  ['/t', 1_795_348_840_550, '2026-11-22T12:00:40.550Z'],
  ['/t', '1795348840550', '2026-11-22T12:00:40.550Z'],
  ['/t', '2026-11-22T11:00:00Z', '2026-11-22T11:00:00.000Z'],
  ['/t', '2026-11-22T11:00:00.123456789Z', '2026-11-22T11:00:00.123Z'],
  ['/t', '2026-11-22T12:00:00+02:00', '2026-11-22T10:00:00.000Z'],
  ['/t', '2026-11-22T11:00:00', '2026-11-22T11:00:00.000Z'],
  ['/t', '2026-11-22 11:00:00', '2026-11-22T11:00:00.000Z'],
  ['/t', '2026-11-22 11:00:00 +0200', '2026-11-22T09:00:00.000Z'],
  ['{ pointer: /t, zone: Europe/Berlin }', '2026-11-22 11:00:00 Z', '2026-11-22T11:00:00.000Z'],
  ['/t', null, '2026-11-22T12:00:00.000Z'],
  ['/missing', 5, '2026-11-22T12:00:00.000Z'],
  ['{ pointer: /t, unit: s }', 1_795_348_840.55, '2026-11-22T12:00:40.550Z'],
  ['{ pointer: /t, unit: s }', '1795348840.55', '2026-11-22T12:00:40.550Z'],
  ['{ pointer: /t, unit: us }', 1_795_348_840_550_000, '2026-11-22T12:00:40.550Z'],
  ['{ pointer: /t, unit: ns }', '1795348840550000000', '2026-11-22T12:00:40.550Z'],
  ['{ pointer: /t, zone: required }', '2026-11-22T01:00:00', '2026-11-22T12:00:00.000Z'],
  ['{ pointer: /t, zone: required }', '2026-11-22T11:00:00+01:00', '2026-11-22T10:00:00.000Z'],
  ['{ pointer: /t, zone: required }', '2026-11-22 11:00:00+01:00', '2026-11-22T10:00:00.000Z'],
  ['{ pointer: /t, zone: required }', '2026-11-22 11:00:00', '2026-11-22T12:00:00.000Z'],
  ['{ pointer: /t, zone: Asia/Kolkata }', '2026-11-22 11:00:00Z', '2026-11-22T11:00:00.000Z'],
  ['{ pointer: /t, zone: Asia/Kolkata }', '2026-11-22 17:00:00', '2026-11-22T11:30:00.000Z'],
  ['{ pointer: /t, zone: Europe/Berlin }', '2026-07-22T12:00:00', '2026-07-22T10:00:00.000Z'],
  ['{ pointer: /t, zone: America/New_York }', '2026-11-22T06:59:59', '2026-11-22T11:59:59.000Z'],
  ['{ pointer: /t, zone: Asia/Kolkata }', '2026-11-22T17:00:00', '2026-11-22T11:30:00.000Z'],
  ['{ pointer: /t, zone: Europe/Berlin }', '2026-03-29T03:00:00', '2026-03-29T01:00:00.000Z'],
  ['{ pointer: /t, zone: Europe/Berlin }', '2026-10-25T01:59:59', '2026-10-24T23:59:59.000Z'],
  ['/t', true, 'bad_timestamp'],
  ['/t', 1_795_348_840, 'too_old'],
])('Time of a mapped message: setting %s, payload time %j: result %s', (time, value, expected) =>
  expect(timeOf(time, value)).toBe(expected),
);

import { expect, test } from '@jest/globals';
import { Mappings, parseMappings } from '../../../../api/features/mappings/mappings.ts';
import { readMapped, readSamples } from '../../../support/features/mappings.ts';
import { checkDoor, NOW, nested, type Result } from '../../../support/payloads/sources.ts';

const FILE = `mappings:
  - { name: all, topic: 'all/{device}', values: [{ all: '' }] }
  - { name: level, topic: 'level/{device}/{sensor}', values: [{ all: '' }] }
  - { name: part, topic: 'part/{device}/{component}', values: [{ all: '', sensor: '{component}.{path}' }] }
  - { name: dash, topic: 'dash/{device}/{room}', values: [{ all: '', sensor: '{room}-{path}' }] }
  - { name: site, topic: 'site/{room}/{unit}', device: '{room}-{unit}', values: [{ pointer: '' }] }
  - { name: two, topic: 'two/{device}', values: [{ pointer: /a, sensor: s }, { pointer: /b, sensor: s }] }
  - { name: id, topic: id, device: { pointer: /id }, values: [{ pointer: /v, sensor: v }] }
  - { name: each, topic: 'each/{device}', each: '', values: [{ pointer: /v, sensor: { pointer: /n } }] }
`;
const mappings = new Mappings(parseMappings(FILE, 'mappings.yaml'));

function readTopic(topic: string, content: unknown): Result {
  try {
    const payload = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
    const read = readSamples(mappings, topic, payload, NOW);
    return [
      ...Object.entries(read.values).flatMap(([sensor, samples]) =>
        samples.map(([, value]) => `${read.device}/${sensor} ${value}`),
      ),
      ...read.refused.map(({ code }: { code: string }) => `refused ${code}`),
    ];
  } catch (error) {
    return [`refused ${(error as { code: string }).code}`];
  }
}

test('Mapping: two different paths or levels: different sensors, or a refusal', () => {
  checkDoor((tokens, value) => readTopic('all/d', nested(tokens, value)));
  for (const name of ['level', 'part', 'dash'])
    checkDoor(([level, ...tokens], value) => readTopic(`${name}/d/${level}`, nested(tokens, value)));
  checkDoor(([room, unit], value) => readTopic(`site/${room}/${unit}`, value), 2);
});

test.each([
  ['two/d', { a: 1, b: 2 }, ['d/s 1', 'refused bad_id']],
  ['two/d', { b: 2 }, ['d/s 2']],
  ['all/d', { a: [7], b: { 0: 8 } }, ['d/a.0 7', 'd/b.0 8']],
  ['id', '{"id":9007199254740993,"v":1}', ['refused bad_id']],
  ['id', '{"id":7,"v":1}', ['7/v 1']],
])('Mapping: topic %s, payload %j: %j', (topic, content, expected) => {
  expect(readTopic(topic, content)).toEqual(expected);
});

test('Mapping: an element of each without a value: skipped and counted', () => {
  const content = JSON.stringify([{ n: 'a', v: 1 }, 7, { n: 'b' }]);
  expect(readMapped(mappings, 'each/d', Buffer.from(content), NOW)).toMatchObject({
    skipped: 2,
    refused: [],
  });
});

test('Mapping: an array of objects, a list of more than 100 numbers, and values in nine objects: refused, the others are stored', () => {
  const content = { a: [{ b: 1 }], c: Array(101).fill(1), d: nested([...'12345678'], 1), e: [], f: 5 };
  expect(readTopic('all/d', content)).toEqual(['d/f 5', ...Array(3).fill('refused not_numeric')]);
});

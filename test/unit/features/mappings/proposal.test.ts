import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  Mappings,
  parseMappings,
  proposeMapping,
  proposeMappings,
  readPresets,
} from '../../../../api/features/mappings/mappings.ts';
import { readSamples } from '../../../support/features/mappings.ts';

/** Reads a message with the mapping proposed for it. */
function readByProposal(topic: string, payload: string, receivedAt?: number) {
  const text = String(proposeMapping(topic, Buffer.from(payload)));
  const mappings = new Mappings(parseMappings(text, 'proposal'));
  return readSamples(mappings, topic, Buffer.from(payload), receivedAt);
}

const NOW = Date.parse('2026-11-22T12:00:41Z');
const TS = Date.parse('2026-11-22T12:00:40Z');

test.each([
  ['home/r1/temperature', '21.5', { device: 'r1', values: { temperature: [[NOW, 21.5]] } }],
  ['door/front', 'open', { device: 'front', values: { value: [[NOW, 1]] } }],
  ['door/front', 'CLOSED', { device: 'front', values: { value: [[NOW, 0]] } }],
  ['farm/barn-7/data', '{"t":1,"h":"2"}', { device: 'barn-7', values: { t: [[NOW, 1]], h: [[NOW, 2]] } }],
  ['farm/b/up', '{"ts":1795348840,"a":{"b":1}}', { device: 'b', values: { 'a.b': [[TS, 1]] } }],
  ['farm/b/up', '{"ts":1795348840000,"a":1}', { device: 'b', values: { a: [[TS, 1]] } }],
  ['farm/b/up', '{"time":"2026-11-22T12:00:40Z","a":true}', { device: 'b', values: { a: [[TS, 1]] } }],
  ['farm/b/up', '{"time":"2026-11-22T02:00:40","a":1}', { device: 'b', values: { a: [[NOW, 1]] } }],
  [
    'x/y2/power',
    '{"l1":1,"l2":2}',
    { device: 'y2', values: { 'power.l1': [[NOW, 1]], 'power.l2': [[NOW, 2]] } },
  ],
  [
    'x/y2/temperature',
    '{"temperature":1,"battery":2}',
    { device: 'y2', values: { temperature: [[NOW, 1]], battery: [[NOW, 2]] } },
  ],
  ['x/y2/temperature', '{"value":1}', { device: 'y2', values: { temperature: [[NOW, 1]] } }],
  ['gw/7/batch', '[{"name":"a","value":1,"ts":1795348840}]', { device: '7', values: { a: [[TS, 1]] } }],
])('Proposed mapping: topic %s, payload %s: mapping reads all values', (topic, payload, expected) => {
  expect(readByProposal(topic, payload, NOW)).toMatchObject({ ...expected, refused: [] });
});

test.each(readPresets())(
  'Proposed mapping: topic of product $name: the preset of the product is proposed',
  ({ name }) => {
    const url = new URL(`../../../vectors/mappings/${name}.json`, import.meta.url);
    const [vector] = JSON.parse(readFileSync(url, 'utf8'));
    expect(proposeMapping(vector.topic, Buffer.from(''))).toBe(`mappings:\n  - use: ${name}\n`);
  },
);

test.each([
  [
    'different values',
    { 'farm/b1/up': ['{"t":1}', { t: 1 }], 'farm/b2/up': ['{"h":2,"ts":1795348840}', { h: 2 }] },
  ],
  [
    'numbers and objects where a level names the quantity',
    {
      'home/r1/temperature': ['21.5', { temperature: 21.5 }],
      'home/r2/power': ['{"l1":1}', { 'power.l1': 1 }],
    },
  ],
  ['numbers and objects', { 'door/d1': ['1', { value: 1 }], 'door/d2': ['{"a":2}', { a: 2 }] }],
  [
    'objects of several quantities',
    { 'h/r1/power': ['{"l1":1}', { 'power.l1': 1 }], 'h/r1/energy': ['{"l1":2}', { 'energy.l1': 2 }] },
  ],
])('Proposed mapping: topics of one pattern with %s: one mapping reads all messages', (_, messages) => {
  const drafts = proposeMappings(
    Object.entries(messages).map(([topic, [payload]]) => ({
      topic,
      payload: Buffer.from(String(payload)),
    })),
  );
  expect(new Set(drafts).size).toBe(1);
  const mappings = new Mappings(parseMappings(String(drafts[0]), 'proposal'));
  for (const [topic, [payload, values]] of Object.entries(messages)) {
    const read = readSamples(mappings, topic, Buffer.from(String(payload)), NOW);
    expect(read.refused).toEqual([]);
    const found = Object.entries(read.values).map(([sensor, samples]) => [sensor, samples[0]?.[1]]);
    expect(Object.fromEntries(found)).toEqual(values);
  }
});

test('Proposed mapping: any topic and any payload: the proposed file is valid, and matches the topic', () => {
  const level = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !/[/+#{}\p{Cc}]/u.test(text));
  fc.assert(
    fc.property(fc.array(level, { minLength: 2, maxLength: 6 }), fc.jsonValue(), (levels, content) => {
      const topic = levels.join('/');
      const text = proposeMapping(topic, Buffer.from(JSON.stringify(content)));
      if (text === null) return;
      expect(new Mappings(parseMappings(text, 'proposal')).match(topic)).not.toBeNull();
    }),
  );
});

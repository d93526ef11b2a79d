// cspell:ignore mesurements stauts spbv

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { editDistance, suggestTopic as suggestIn } from '../../../schema/topic-suggestion.ts';
import { KINDS, topicContract } from '../../../schema/topics.ts';

const CONTRACT = topicContract([]);
const suggestTopic = (topic: string) => suggestIn(topic, CONTRACT);

test.each([
  ['iot/v1/my-desk/measurement', 'iot/v1/my-desk/measurements'],
  ['iot/v1/my-desk/Measurements', 'iot/v1/my-desk/measurements'],
  ['iot/v1/my-desk/mesurements', 'iot/v1/my-desk/measurements'],
  ['iot/v1/my-desk/births', 'iot/v1/my-desk/birth'],
  ['iot/v1/my-desk/state', 'iot/v1/my-desk/status'],
  ['iot/v2/my-desk/measurements', 'iot/v1/my-desk/measurements'],
  ['iot/my-desk/measurements', 'iot/v1/my-desk/measurements'],
  ['my-desk/measurements', 'iot/v1/my-desk/measurements'],
  ['/iot/v1/my-desk/measurements', 'iot/v1/my-desk/measurements'],
  ['iot/v1/my-desk/measurements/', 'iot/v1/my-desk/measurements'],
  ['iot/v1/my-desk/measurements/temperature', 'iot/v1/my-desk/measurements'],
  ['iot/v1/hall/my-desk/measurements', 'iot/v1/my-desk/measurements'],
  ['iot/v1/my-desk', 'iot/v1/my-desk/measurements'],
  ['iot/v1/my-desk/data', 'iot/v1/my-desk/measurements'],
  ['IOT/v1/Ofen 3 % ü/status', 'iot/v1/Ofen 3 % ü/status'],
])('Topic suggestion: %s: suggests %s', (topic, expected) => expect(suggestTopic(topic)).toBe(expected));

test.each([
  'home/my-desk/temperature',
  'home/my-desk',
  'zigbee2mqtt/lamp',
  'temperature',
  'iot/v1/measurements',
  'iot/v1//measurement',
  'iot/v1',
  'spbv1.0/plant/NDATA/edge-1',
  '$SYS/dropped',
  'a/'.repeat(60),
  `iot/v1/${'x'.repeat(300)}/measurement`,
  `iot/v1/${'ä'.repeat(70)}/measurement`,
  '',
])('Topic suggestion: %s: no suggestion is made', (topic) => expect(suggestTopic(topic)).toBeNull());

test('Topic suggestion: random topics: each suggestion is a valid topic', () => {
  const level = fc.oneof(fc.constantFrom('iot', 'v1', ...KINDS, ''), fc.string());
  fc.assert(
    fc.property(fc.array(level, { maxLength: 12 }), (levels) => {
      const suggestion = suggestTopic(levels.join('/'));
      if (suggestion !== null) expect(CONTRACT.parse(suggestion)).not.toBeNull();
    }),
  );
});

test('Topic suggestion: the message kind has one wrong character: the right kind is suggested for the same device', () => {
  const device = fc.constantFrom('my-desk', 'collar-0001', 'Ofen 3');
  fc.assert(
    fc.property(device, fc.constantFrom(...KINDS), fc.nat(3), (name, kind, at) => {
      const wrong = `${kind.slice(0, at)}_${kind.slice(at + 1)}`;
      expect(suggestTopic(`iot/v1/${name}/${wrong}`)).toBe(`iot/v1/${name}/${kind}`);
    }),
  );
});

test.each([
  ['', '', 0],
  ['abc', 'abc', 0],
  ['', 'abc', 3],
  ['measurement', 'measurements', 1],
  ['kitten', 'sitting', 3],
  ['status', 'stauts', 2],
])('Edit distance: %j and %j: %i edits', (a, b, expected) => {
  expect(editDistance(a, b)).toBe(expected);
  expect(editDistance(b, a)).toBe(expected);
});

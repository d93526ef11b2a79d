import { expect, test } from '@jest/globals';
import { parseTopic } from '../../../schema/topics.ts';

test.each([
  ['iot/v1/collar-1/measurements', { device: 'collar-1', kind: 'measurements' }],
  ['iot/v1/collar-1/birth', { device: 'collar-1', kind: 'birth' }],
  ['iot/v1/collar-1/status', { device: 'collar-1', kind: 'status' }],
  ['iot/v1/Ofen 3 % ü/status', { device: 'Ofen 3 % ü', kind: 'status' }],
  ['iot/v1//birth', { device: '', kind: 'birth' }],
  ['iot/v1/birth', null],
  ['iot/v1/a/b/birth', null],
  ['iot/v1/a/births', null],
  ['iot/v1/a/birth/', null],
  ['iot/v1/a/toString', null],
  ['iot/v2/a/birth', null],
  ['/iot/v1/a/birth', null],
  ['iot/live/a', null],
  ['spBv1.0/plant/NDATA/edge-1', null],
  ['', null],
])('Topic parser: topic %s: the result is %j', (topic, expected) => {
  expect(parseTopic(topic)).toEqual(expected);
});

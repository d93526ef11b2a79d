import { expect, test } from '@jest/globals';
import { matchesFilter } from '../../../../api/mqtt/embedded/retained.ts';

test.each([
  ['#', 'iot/v1/d/status', true],
  ['iot/v1/#', 'iot/v1/d/status', true],
  ['iot/v1/d/status/#', 'iot/v1/d/status', true],
  ['iot/v1/d/status', 'iot/v1/d/status', true],
  ['iot/v1/+/status', 'iot/v1/d/status', true],
  ['+/+/+/+', 'iot/v1/d/status', true],
  ['iot/v1/+/status', 'iot/v1//status', true],
  ['+', 'iot/v1/d/status', false],
  ['iot/v1/d', 'iot/v1/d/status', false],
  ['iot/v1/d/status/+', 'iot/v1/d/status', false],
  ['iot/v1/+/birth', 'iot/v1/d/status', false],
  ['iot/v2/#', 'iot/v1/d/status', false],
])('Topic filter: %s matches %s: %p', (filter, topic, matches) => {
  expect(matchesFilter(filter, topic)).toBe(matches);
});

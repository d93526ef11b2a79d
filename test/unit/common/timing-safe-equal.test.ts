import { expect, test } from '@jest/globals';
import { sameSecret } from '../../../common/timing-safe-equal.ts';

test.each([
  ['right', 'right', true],
  ['', '', true],
  [Buffer.from('schlüssel'), 'schlüssel', true],
  ['wrong', 'right', false],
  ['right and more', 'right', false],
  ['', 'right', false],
])('Timing-safe comparison: input %p, secret %p: the result is %p', (given, secret, same) => {
  expect(sameSecret(given, secret)).toBe(same);
});

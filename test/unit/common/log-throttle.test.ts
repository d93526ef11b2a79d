import { beforeEach, expect, test } from '@jest/globals';
import { LogThrottle } from '../../../common/log-throttle.ts';

const EVERY_MS = 1000;

let now = 0;
let throttle: LogThrottle;

beforeEach(() => {
  now = 0;
  throttle = new LogThrottle({ everyMs: EVERY_MS, clock: () => now });
});

test('Log throttle: further events of a key within the period: counted, not logged', () => {
  throttle.count('a');
  now = EVERY_MS - 1;
  expect([throttle.count('a'), throttle.count('a')]).toEqual([0, 0]);
});

test('Log throttle: first event of a key after the period: logged with the count since the last line', () => {
  for (let i = 0; i < 5; i++) throttle.count('a');
  now = EVERY_MS;
  expect(throttle.count('a')).toBe(5);
  now = 2 * EVERY_MS;
  expect(throttle.count('a')).toBe(1);
});

test('Log throttle: more than 10,000 keys: the least recently counted key is forgotten', () => {
  for (let i = 0; i <= 10_000; i++) throttle.count(`key ${i}`);
  expect([throttle.count('key 0'), throttle.count('key 10000')]).toEqual([1, 0]);
});

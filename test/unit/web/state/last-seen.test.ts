import { expect, test } from '@jest/globals';
import { lastSeenAt } from '../../../../web/state/device.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const at = (second: number) => new Date(NOW + 1000 * second).toISOString();

test('Last seen time of a device: stored time and times of samples differ: the newest of these times', () => {
  expect(lastSeenAt(at(-50), [{ ts: at(-90) }, { ts: at(-3) }, { ts: null }, { ts: '' }], NOW)).toBe(at(-3));
  expect(lastSeenAt(at(-5), [{ ts: at(-90) }], NOW)).toBe(at(-5));
  expect(lastSeenAt(null, [{ ts: at(-90) }], NOW)).toBe(at(-90));
  expect(lastSeenAt(null, [], NOW)).toBeNull();
});

test('Last seen time of a device: a sample has a time in the future: the sample is ignored', () => {
  expect(lastSeenAt(at(-50), [{ ts: at(60) }], NOW)).toBe(at(-50));
});

import { expect, test } from '@jest/globals';
import { createDeadLetterQuota } from '../../../api/ingest/dead-letter-quota.js';

const HOUR = Date.UTC(2026, 10, 21, 12);
const one = { malformed: 1 };

test('beyond the quota of a device one letter a minute counts what came since', () => {
  const quota = createDeadLetterQuota({ most: { ofDevice: 2, inAll: 100 } });
  const take = (/** @type {number} */ second, device = 'd') => quota.take(device, HOUR + second * 1000, one);
  expect([take(0), take(1)]).toEqual(Array(2).fill({ verdict: 'whole', codes: one }));
  expect(take(2)).toEqual({ verdict: 'counts', codes: { malformed: 1 } });
  expect(take(3).verdict).toBe('none');
  expect(take(61).verdict).toBe('none');
  expect(take(62)).toEqual({ verdict: 'counts', codes: { malformed: 3 } });
  expect(take(63, 'other').verdict).toBe('whole');
  // The next hour begins anew.
  expect(take(3600).verdict).toBe('whole');
});

test('the quota of all devices together holds as well', () => {
  const quota = createDeadLetterQuota({ most: { ofDevice: 10, inAll: 3 } });
  const verdicts = ['a', 'b', 'c', 'd', 'd'].map((device) => quota.take(device, HOUR, one).verdict);
  expect(verdicts).toEqual(['whole', 'whole', 'whole', 'counts', 'none']);
});

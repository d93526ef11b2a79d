import { expect, test } from '@jest/globals';
import { DeadLetterQuota } from '../../../api/ingest/dead-letter-box.ts';

const HOUR = Date.UTC(2026, 10, 21, 12);
const one = { malformed: 1 };
const LIMITS = { perDevice: 10, unregistered: 10, total: 100, counting: 10 };

function open(
  limits: Partial<typeof LIMITS>,
): (second: number, device?: string | null) => ReturnType<DeadLetterQuota['take']> {
  const quota = new DeadLetterQuota({ limits: { ...LIMITS, ...limits } });
  return (second, device = 'd') => quota.take(device, HOUR + second * 1000, one);
}

test('Dead letter quota: a device exceeds its quota: one dead letter a minute with only counts of refusals', () => {
  const take = open({ perDevice: 2 });
  expect([take(0), take(1)]).toEqual(Array(2).fill({ verdict: 'whole', codes: one }));
  expect(take(2)).toEqual({ verdict: 'counts', codes: { malformed: 1 } });
  expect(take(3).verdict).toBe('none');
  expect(take(61).verdict).toBe('none');
  expect(take(62)).toEqual({ verdict: 'counts', codes: { malformed: 3 } });
  expect(take(63, 'other').verdict).toBe('whole');
  // The quota starts at 0 in the next hour.
  expect(take(3600).verdict).toBe('whole');
});

test('Dead letter quota: several unregistered devices: one quota, separate from that of registered devices', () => {
  const take = open({ unregistered: 2, perDevice: 1 });
  const verdicts = [null, null, null, null, 'd', 'd', null].map((device) => take(0, device).verdict);
  expect(verdicts).toEqual(['whole', 'whole', 'counts', 'none', 'whole', 'counts', 'none']);
  expect(take(60, null)).toEqual({ verdict: 'counts', codes: { malformed: 3 } });
});

test('Dead letter quota: many devices exceed the total quota: at most three dead letters with counts a minute', () => {
  const take = open({ total: 0, counting: 3 });
  const devices = ['a', 'b', 'c', 'd', 'e'];
  const verdicts = (second: number) => devices.map((device) => take(second, device).verdict);
  expect(verdicts(0)).toEqual(['counts', 'counts', 'counts', 'none', 'none']);
  expect(take(60, 'e')).toEqual({ verdict: 'counts', codes: { malformed: 2 } });
  expect(verdicts(60)).toEqual(['counts', 'counts', 'none', 'none', 'none']);
});

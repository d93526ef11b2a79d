import { expect, test } from '@jest/globals';
import { createMeter } from '../../../simulator/meter.js';
import { backoffMs } from '../../../simulator/mqtt/backoff.js';
import { statusText, summaryText } from '../../../simulator/report.js';

test('what is queued is acknowledged, dropped or waiting', () => {
  const meter = createMeter();
  meter.made(120);
  meter.queued(100);
  meter.acknowledged(60, 4);
  meter.acknowledged(10, 12);
  meter.dropped(5);
  const snapshot = meter.snapshot();
  expect(snapshot).toMatchObject({ made: 120, acknowledged: 70, dropped: 5, waiting: 25, p50: 4, p99: 12 });
  expect(statusText('3/3 devices', { ...snapshot, perSecond: 12.34 })).toBe(
    '3/3 devices · 12.3 samples/s · 70 acknowledged · 25 waiting · 5 dropped · ack p50 4 p99 12 ms',
  );
  expect(summaryText({ ...snapshot, seconds: 2 })).toBe(
    '120 samples made, 70 acknowledged, 5 dropped, 45 left unacknowledged in 2 s: 35 samples/s',
  );
});

test('no acknowledgement, no percentile', () => {
  expect(createMeter().snapshot()).toMatchObject({ p50: null, p99: null, perSecond: 0 });
});

test('attempts come further and further apart, jittered, and never more than 15 s', () => {
  expect(backoffMs(0, () => 0)).toBe(250);
  expect(backoffMs(3, () => 0)).toBe(2000);
  expect(backoffMs(3, () => 0.999)).toBeLessThan(4000);
  expect(backoffMs(5000, () => 1)).toBe(15_000);
});

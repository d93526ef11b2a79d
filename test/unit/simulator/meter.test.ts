import { expect, test } from '@jest/globals';
import { createMeter } from '../../../simulator/meter.ts';
import { latencyText, periodText, statusText, summaryText } from '../../../simulator/report.ts';

test('Simulator meter: 120 samples: each is counted as acknowledged, dropped or waiting', () => {
  const meter = createMeter();
  for (const samples of [60, 10, 5, 45]) meter.made(samples);
  meter.acknowledged(60, 4);
  meter.acknowledged(10, 12);
  meter.dropped(5);
  const snapshot = meter.snapshot();
  expect(snapshot).toMatchObject({ made: 120, acknowledged: 70, dropped: 5, waiting: 45 });
  expect(statusText('3/3 devices', { ...snapshot, perSecond: 12.34 })).toBe(
    '3/3 devices · 12.3 samples/s · 70 acknowledged · 45 waiting · 5 dropped · ack p50 4 p99 12 ms',
  );
  expect(summaryText({ ...meter.totals(), seconds: 2 })).toBe(
    'The devices measured 120 samples: 70 acknowledged, 5 dropped, 45 left unacknowledged in 2 s: 35 samples/s',
  );
});

test('Simulator meter: latency percentiles have an error of at most 0.1 %', () => {
  const meter = createMeter();
  for (let ms = 1; ms <= 10_000; ms += 1) meter.acknowledged(1, ms / 10);
  const { latency } = meter.totals();
  expect(latency.count).toBe(10_000);
  const exact = { p50: 500, p90: 900, p99: 990, p999: 999, max: 1000, mean: 500.05 };
  for (const [name, ms] of Object.entries(exact)) {
    expect(Math.abs(Number(latency[name as keyof typeof exact]) - ms)).toBeLessThan(ms / 1000);
  }
  expect(latencyText(latency, 'its sending')).toMatch(
    /^10,000 messages acknowledged: p50 500 p90 900 p99 99\d p99.9 999 max 1,000 mean 500 ms, each from its sending$/,
  );
});

test('Simulator meter: a new period begins: counts start at zero, and the status shows the previous period until an acknowledgement', () => {
  const meter = createMeter();
  meter.acknowledged(60, 4);
  const first = meter.endPeriod();
  expect(first).toMatchObject({ messages: 1, samples: 60, latency: { count: 1 } });
  expect(periodText({ ...first, seconds: 2 })).toMatch(
    /^0.5 messages\/s, 30 samples\/s acknowledged: p50 4 /,
  );
  expect(meter.snapshot().latency.count).toBe(1);
  meter.acknowledged(10, 8);
  meter.acknowledged(10, 8);
  expect(meter.snapshot().latency.count).toBe(2);
  expect(meter.endPeriod()).toMatchObject({ messages: 2, samples: 20, latency: { count: 2 } });
  expect(meter.totals().latency.count).toBe(3);
});

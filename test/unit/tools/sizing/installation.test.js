import { describe, expect, test } from '@jest/globals';
import { windowFor } from '../../../../schema/rules.js';
import { tablesOf } from '../../../../schema/sizes.js';
import { installationOf, nodesOf } from '../../../../tools/sizing/formula.js';
import { compressionOf, storedBy, windowsOf } from '../../../../tools/sizing/storage.js';
import { hoursTouched, registryReadsOf, writesOf } from '../../../../tools/sizing/traffic.js';
import { FIGURES, planOf } from './plan.js';

const { fleet, parts } = planOf('--sensors 1e6 --interval 1s --batch 60s --retention 30d --history 1y');

describe('Sizing: a million sensors at 1 Hz, ten for each device, a message each minute', () => {
  test('writes each second: as calculated by hand', () => {
    const { samples, latest, lastSeen, history, statistics, events } = writesOf(fleet);
    // 1e6 / 10 / 60 messages, of which 59 / 3600 reach into the next hour.
    expect(samples.requests).toBeCloseTo(1693.98, 2);
    expect(samples.rows).toBeCloseTo(1693.98, 2);
    expect(latest.rows).toBeCloseTo(1666.67, 1);
    expect(lastSeen.rows).toBeCloseTo(1666.7, 1);
    expect([history.rows, statistics.rows]).toEqual([1e6 / 3600, 1e6 / 3600]);
    // A birth, `online` and `offline` of each of 100,000 devices a day.
    expect(events.rows).toBeCloseTo(3.47, 2);
  });

  test('windows: 30 of a day, twice 29 of 13 days, and one open window of each, with four SSTables', () => {
    expect(windowsOf(fleet)).toEqual({
      windows: {
        message: { days: 1, count: 31 },
        history: { days: 13, count: 30 },
        history_stat: { days: 13, count: 30 },
      },
      sstables: 30 + 29 + 29 + 3 * 4,
    });
  });

  test('bytes when packed: a year of history, and a window with the overhead from the bench', () => {
    const { bytes } = storedBy(fleet, compressionOf(FIGURES.disk, 'decimals'));
    const samples = 1e6 * 378 * 86_400;
    expect(Number(bytes['history']) / (samples * Number(FIGURES.disk.decimals['history']))).toBeCloseTo(1, 6);
    expect(
      Number(bytes['history_stat']) / (samples * Number(FIGURES.disk.decimals['statistics'])),
    ).toBeCloseTo(1, 6);
  });
});

test.each([4, 30, 31, 365, 730, 3650])(
  'a table that keeps %p days has as many windows and rows on disk as calculated, seen hour by hour',
  (days) => {
    const kept = { ...fleet, batchDays: days, historyDays: days };
    const { windowDays } = windowFor(days);
    let [most, oldest] = [0, 0];
    for (let now = 4 * (days + windowDays); now < 4 * (days + windowDays) + 3 * windowDays; now += 1 / 24) {
      // A window goes when what came last into it has expired.
      const first = Math.floor((now - days) / windowDays);
      most = Math.max(most, Math.floor(now / windowDays) - first + 1);
      oldest = Math.max(oldest, now - first * windowDays);
    }
    expect(windowsOf(kept).windows['history']).toEqual({ days: windowDays, count: most });
    const { bytes } = storedBy(kept, { batches: 1, history: 1, statistics: 1 });
    const { history } = tablesOf(kept);
    expect(Math.abs((Number(bytes['history']) / history.bytes) * days - oldest)).toBeLessThan(2 / 24);
  },
);

test('Sizing: a message of an hour: it nearly always touches two hours', () => {
  expect(hoursTouched(planOf('--sensors-per-device 1 --batch 1h').fleet)).toBeCloseTo(2, 2);
});

test('Sizing: a message larger than a block: two rows', () => {
  const { samples } = writesOf(
    planOf('--sensors 1 --sensors-per-device 1 --interval 10ms --batch 50s').fleet,
  );
  expect(samples.rows - samples.requests).toBeCloseTo(1 / 50);
});

describe('Sizing: reads of the registry', () => {
  test('Registry reads: a process sees each device ten times in ten minutes: one message in eleven', () => {
    const small = planOf('--sensors 1e4').fleet;
    expect(registryReadsOf(small, 1)).toBeCloseTo(1000 / 60 / 11, 6);
  });

  test('a hundred processes: for nearly every message', () => {
    const { messages } = installationOf(fleet, parts, FIGURES);
    expect(registryReadsOf(fleet, 100) / messages).toBeGreaterThan(0.9);
  });
});

describe('Sizing: nodes', () => {
  const one = { ...parts, node: { vcpus: 8, diskBytes: 1e12 }, headroom: 0.5, fill: 0.7 };

  test('number: enough for CPUs and disks, at least three, in steps of three', () => {
    expect(nodesOf({ cpu: 10, disk: 5e12 }, one)).toEqual({ byCpu: 3, byDisk: 8, count: 9 });
    expect(nodesOf({ cpu: 17, disk: 0 }, one)).toEqual({ byCpu: 5, byDisk: 0, count: 6 });
    expect(nodesOf({ cpu: 0.1, disk: 1 }, one).count).toBe(3);
  });
});

test('Sizing: database load: copies of all writes, and a quorum of all reads', () => {
  // Whatever a message carries costs 100 µs; an hour of a sensor, packed alone in a hundredth of a second, 10 ms of each side.
  const alike = { ingest: 0, database: 0, broker: 0, rate: 1 };
  const throughput = Object.fromEntries(
    ['1x1', '1x60', '50x1'].map((load) => {
      const [sensors = 1, samples = 1] = load.split('x').map(Number);
      const cost = 100 / (sensors * samples);
      const each = { ...alike, ingest: cost, database: cost, broker: cost };
      return [load, { packed: each, rows: each }];
    }),
  );
  const figures = { ...FIGURES, throughput, packing: { loaded: 50, alone: 100 } };
  const small = { ...planOf('--sensors 1e4').fleet, bornEveryMs: 1e15 };
  const { busy, processes } = installationOf(small, parts, figures);
  const written = (1000 / 60) * 100 + (1e4 / 3600) * 10_000;
  const read = (1000 / 60 / 11) * 100;
  expect(processes).toBe(1);
  expect(busy).toBeCloseTo((3 * written + 2 * read) / 1e6, 6);
});

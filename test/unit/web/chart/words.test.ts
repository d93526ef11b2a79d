import { describe, expect, test } from '@jest/globals';
import { readCsv } from '../../../../web/api/client.ts';
import { timeLabels } from '../../../../web/chart/options.ts';
import { keyed } from '../../../../web/chart/plot.ts';
import type { Columns } from '../../../../web/chart/shape.ts';
import { formatDuration, formatNumber, formatStep, formatTicks, UTC } from '../../../../web/format.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const START = Date.UTC(2026, 11, 31, 23, 58);

describe('Time axis', () => {
  test.each([
    [500, ['58:00.000\n31 Dec', '58:00.500', '58:01.000']],
    [1000, ['23:58:00\n31 Dec', '23:58:01', '23:58:02']],
    [MINUTE, ['23:58\n31 Dec', '23:59', '00:00\n1 Jan']],
    [DAY, ['31 Dec\n2026', '1 Jan\n2027', '2 Jan']],
    [30 * DAY, ['Dec\n2026', 'Jan\n2027', 'Mar']],
  ])(
    'Time axis of a chart: a tick every %d ms: labels show the time, and the date where the date changes',
    (step, labels) => {
      expect(timeLabels([START, START + step, START + 2 * step], step, UTC)).toEqual(labels);
    },
  );
});

describe('Value axis', () => {
  test.each([
    [
      [200, 220, 240],
      ['200', '220', '240'],
    ],
    [
      [-0.5, 0, 0.5],
      ['−0.5', '0.0', '0.5'],
    ],
    [
      [38, 38 + 5e-10, 38 + 1e-9],
      ['38.0000000000', '38.0000000005', '38.0000000010'],
    ],
    [
      [4e12, 4e12 + 20],
      ['4,000,000,000,000', '4,000,000,000,020'],
    ],
    [
      [1e18, 2e18],
      ['1.0e+18', '2.0e+18'],
    ],
  ])('Value axis of a chart: ticks at %j: all labels differ', (ticks, labels) =>
    expect(formatTicks(ticks)).toEqual(labels),
  );

  test('Number format: a large number without decimals: all digits of the number are shown', () => {
    expect(formatNumber(4_005_385_945_400, 0)).toBe('4,005,385,945,400');
  });
});

test('Duration format: durations and bin widths in ms: written with units, such as 1 min 30 s', () => {
  expect([850, 90_000, 3_600_000, 27.5 * 3_600_000, 365 * DAY].map(formatDuration)).toEqual([
    '850 ms',
    '1 min 30 s',
    '1 h',
    '1 d 3 h',
    '365 d',
  ]);
  expect([1000, 30_000, 15 * MINUTE, 12 * 3_600_000, 30 * DAY].map(formatStep)).toEqual([
    '1 s',
    '30 s',
    '15 min',
    '12 h',
    '30 d',
  ]);
});

test('API client: samples as CSV: the lines are parsed to times and values', () => {
  expect(readCsv('ts,value\n2026-11-21T00:00:00.000Z,21.5\n2026-11-21T00:00:01.000Z,-1e-7\n')).toEqual({
    ts: [Date.UTC(2026, 10, 21), Date.UTC(2026, 10, 21) + 1000],
    value: [21.5, -1e-7],
  });
  expect(readCsv('ts,value\n')).toEqual({ ts: [], value: [] });
});

describe('Chart keys', () => {
  const window = { live: false, from: 0, to: 100_000 };
  const at = {
    window,
    bounds: { now: 10 * DAY, earliest: 0 },
    drawn: {
      columns: [[10, 20, 30, 40, 200_000], [1, 2, null, 4, 5], [], []] as Columns,
      places: [0, 1, -1, 2, 3],
    },
    cursor: null as number | null,
  };
  const press = (key: string, cursor: number | null = null, modifiers: object = {}) =>
    keyed(
      { key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...modifiers },
      { ...at, cursor },
    );

  test('Chart keys: arrow keys, Home, End: the cursor moves from sample to sample, over gaps, within the window', () => {
    expect(press('ArrowLeft')).toEqual({ entry: 3 });
    expect(press('ArrowLeft', 3)).toEqual({ entry: 1 });
    expect(press('ArrowRight', 3)).toEqual({ entry: 3 });
    expect(press('Home', 3)).toEqual({ entry: 0 });
    expect(press('End', 0)).toEqual({ entry: 3 });
  });

  test('Chart keys: plus, Shift with an arrow, 0 or Escape: zooms at the cursor, pans, resets the range', () => {
    expect(press('+', 0)).toEqual({ window: { live: false, from: 8, to: 25_008 } });
    expect(press('ArrowRight', null, { shiftKey: true })).toEqual({
      window: { live: false, from: 25_000, to: 125_000 },
    });
    expect([press('0'), press('Escape')]).toEqual([{ reset: true }, { reset: true }]);
  });

  test('Chart keys: a key with Ctrl, or Tab: the chart ignores it', () => {
    expect(press('+', null, { ctrlKey: true })).toBeNull();
    expect(press('Tab')).toBeNull();
  });
});

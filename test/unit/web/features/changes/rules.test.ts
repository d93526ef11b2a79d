import { expect, test } from '@jest/globals';
import { cameOrWent, changeOf, judgedFrom, together } from '../../../../../web/features/changes/rules.ts';
import { readBins } from '../../../../../web/features/changes/use-changes.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const BIN_MS = 5 * MINUTE_MS;

const SINCE = NOON - HOUR_MS;
/** @param lately values of the last hour, every five minutes */
const bins = (lately: number[]) => {
  const before = Array.from({ length: 60 }, (_, index) => 20 + (index % 3));
  const values = [...before, ...lately];
  return {
    ts: values.map((_, index) => SINCE + (index - before.length) * 5 * MINUTE_MS),
    avg: values,
  };
};

test('Changes of the last hour: all values of a sensor within the usual range: no change is listed', () =>
  expect(changeOf(bins([20, 21, 22, 20]), SINCE)).toBeNull());

test('Changes of the last hour: values leave the usual range and return: crossings are counted, farthest value and last time shown', () => {
  expect(changeOf(bins([21, 30, 31, 21, 12]), SINCE)).toEqual({
    crossings: 3,
    isOut: true,
    at: SINCE + 4 * 5 * MINUTE_MS,
    low: 19,
    high: 23,
    farthest: 31,
  });
});

test('Changes of the last hour: too few values before that hour: the sensor is listed as unjudged', () =>
  expect(changeOf({ ts: [SINCE - 1, SINCE], avg: [1, 100] }, SINCE)).toBe('unjudged'));

test('Changes of the last hour: device events: online and offline are counted; birth and older events are not', () => {
  const at = (minutes: number) => new Date(NOON - minutes * MINUTE_MS).toISOString();
  const events = [
    { ts: at(5), kind: 'birth' },
    { ts: at(10), kind: 'offline' },
    { ts: at(20), kind: 'online' },
    { ts: at(90), kind: 'offline' },
  ] as const;
  expect(cameOrWent([...events], SINCE)).toEqual({
    isOnline: false,
    at: NOON - 10 * MINUTE_MS,
    times: 2,
  });
  expect(cameOrWent([events[0], events[3]], SINCE)).toBeNull();
});

test('Changes of the last hour: a sensor has too little history: it is judged two hours after its first value', () => {
  expect(judgedFrom({ ts: [NOON], avg: [1] })).toBe(NOON + 2 * HOUR_MS);
  expect(judgedFrom({ ts: [], avg: [] })).toBeNull();
});

let id = 0;
const changed = (
  minutes: number,
  { isOnline = true, times = 2 }: { isOnline?: boolean; times?: number } = {},
) => ({
  device: { device_id: String(id++) } as never,
  change: { isOnline, times, at: NOON - minutes * MINUTE_MS },
});
const all = (count: number, minutes: number) => Array.from({ length: count }, () => changed(minutes));

test.each([
  ['25 devices come online together: one group', all(25, 10), [25]],
  ['three devices come online together: each by itself', all(3, 10), [1, 1, 1]],
  ['two restarts: a group for each', [...all(4, 10), ...all(5, 30)], [4, 5]],
  [
    'a device went offline meanwhile: it is not in the group',
    [...all(4, 10), changed(11, { isOnline: false })],
    [4, 1],
  ],
  ['a device changed often: it is not in the group', [changed(9, { times: 8 }), ...all(4, 10)], [1, 4]],
  [
    'devices came online over six minutes: a group of the first five minutes',
    [...all(4, 10), changed(16)],
    [4, 1],
  ],
])('Changes of the last hour: %s', (_, devices, sizes) => {
  expect(together(devices).map((group) => group.length)).toEqual(sizes);
});

function reader(stepMs: number = BIN_MS) {
  const ranges: { from: number; to: number }[] = [];
  const read = async (range: { from: number; to: number }) => {
    ranges.push(range);
    const ts = Array.from(
      { length: Math.ceil((range.to - range.from) / stepMs) },
      (_, i) => range.from + i * stepMs,
    );
    return { ts, avg: ts, stepMs };
  };
  return { ranges, read };
}

test('Bins of a sensor: next reading: asks only for the last two bins, and equals a whole reading', async () => {
  const { ranges, read } = reader();
  const first = await readBins(undefined, NOON + 1, read);
  const later = NOON + 7 * MINUTE_MS;
  expect(await readBins(first, later, read)).toEqual(await readBins(undefined, later, read));
  expect(ranges.slice(0, 2)).toEqual([
    { from: NOON - 6 * HOUR_MS, to: NOON + 1 },
    { from: NOON - BIN_MS, to: later },
  ]);
});

test('Bins of a sensor: the API answers in other bins than of five minutes: all is read again', async () => {
  const first = await readBins(undefined, NOON, reader().read);
  const { ranges, read } = reader(MINUTE_MS);
  await readBins(first, NOON + MINUTE_MS, read);
  expect(ranges.map(({ from }) => from)).toEqual([NOON - 2 * BIN_MS, NOON - 6 * HOUR_MS]);
});

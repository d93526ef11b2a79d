import { describe, expect, test } from '@jest/globals';
import {
  describeLevel,
  judge,
  LEVELS,
  levelOf,
  NORMAL,
  NOT_JUDGED,
  nothingFar,
} from '../../../../../web/features/baselines/deviation.ts';
import { groupingOf } from '../../../../../web/features/baselines/group-wall.tsx';
import { deviationOf } from '../../../../../web/features/baselines/note.tsx';
import { NO_VALUE } from '../../../../../web/state/cells.ts';
import { Fleet, MOST_SENSORS } from '../../../../../web/state/fleet.ts';

const HOURS = [
  { ts: '2026-11-21T11:00:00.000Z', mean: 10, deviation: 1 },
  { ts: '2026-11-21T12:00:00.000Z', mean: 20, deviation: 2 },
];

const judged = (ts: string | null, value: number | null) => deviationOf({ ts, value }, HOURS);

describe('Deviation', () => {
  test('Deviation from the baseline: baselines of several hours: a value is compared with the baseline of its hour', () => {
    expect(judged('2026-11-21T12:00:00.000Z', 35)).toEqual({
      mean: 20,
      deviation: 2,
      off: 15,
      cellState: NORMAL + LEVELS,
    });
    expect(judged('2026-11-21T11:59:59.999Z', 10)).toMatchObject({ off: 0, cellState: NORMAL });
  });

  test('Deviation from the baseline: no value, or no baseline for the hour of the value: null', () => {
    expect(judged('2026-11-21T13:00:00.000Z', 20)).toBeNull();
    expect(judged(null, null)).toBeNull();
  });

  test('Deviation from the baseline: standard deviation 0: any value other than the mean is far off', () => {
    const hours = [{ ts: '2026-11-21T12:00:00.000Z', mean: 0, deviation: 0 }];
    const at = (value: number) => deviationOf({ ts: '2026-11-21T12:30:00.000Z', value }, hours)?.cellState;
    expect([at(0), at(1), at(-1)]).toEqual([NORMAL, NORMAL + LEVELS, 0]);
  });
});

test('Level of a deviation: standard deviations above or below the mean: level from -5 to 5, symmetric', () => {
  expect([0, 1.3, 1.4, 2.2, 3.2, 4.5, 7, 99].map(levelOf)).toEqual([0, 0, 1, 2, 3, 4, 5, 5]);
  expect([-1.4, -99].map(levelOf)).toEqual([-1, -5]);
});

test.each([
  [NORMAL, 'As usual'],
  [NORMAL - 1, 'As usual'],
  [NORMAL + 2, 'A little above its usual'],
  [NORMAL - 3, 'Below its usual'],
  [NORMAL + 5, 'Far above its usual'],
  [NOT_JUDGED, 'Not judged yet'],
])('Judgment of a value in words: cell state %p of the wall: "%s"', (cellState, words) => {
  expect(describeLevel(cellState)).toBe(words);
});

const fleet = (sensors: number, devices: number, by_site: Record<string, number>) => ({
  sensors,
  devices: { online: devices, offline: 0, not_live: 0 },
  by_type: { pulse: 12, temperature: sensors - 12 },
  by_site,
});
const ALL = { type: null, site: null };

test.each([
  [
    'fleet that fits on the wall: a cell for each sensor',
    fleet(MOST_SENSORS, 9000, { A: 9, B: 9 }),
    ALL,
    null,
  ],
  [
    '100,000 sensors of 1000 devices: a tile for each device',
    fleet(100_000, 1000, { A: 50_000, B: 50_000 }),
    ALL,
    'device',
  ],
  [
    '100,000 sensors of 1001 devices: a tile for each site',
    fleet(100_000, 1001, { A: 50_000, B: 50_000 }),
    ALL,
    'site',
  ],
  [
    '25,000 devices of a single site: a tile for each device',
    fleet(100_000, 25_000, { A: 100_000 }),
    ALL,
    'device',
  ],
  [
    'filter for a site that fits on the wall: a cell for each sensor',
    fleet(100_000, 25_000, { A: 100, B: 99_900 }),
    { ...ALL, site: 'A' },
    null,
  ],
  [
    'filter for a site that does not fit on the wall: a tile for each device',
    fleet(100_000, 25_000, { A: 100, B: 99_900 }),
    { ...ALL, site: 'B' },
    'device',
  ],
  [
    'filter for a rare sensor type: a cell for each sensor',
    fleet(100_000, 25_000, { A: 9, B: 9 }),
    { ...ALL, type: 'pulse' },
    null,
  ],
])('Wall of a large fleet: %s', (_, info, filter, grouping) => {
  expect(groupingOf(info, filter)).toBe(grouping);
});

test('All-clear text of the wall: some sensors are not judged: the text names the number of judged sensors', () => {
  expect(nothingFar({ sensors: 20, judged: 20 })).toBe('Nothing stands out.');
  const some = nothingFar({ sensors: 20, judged: 12 });
  expect(some).toBe('Nothing stands out among 12 of 20 sensors. The others are not judged yet.');
  expect(nothingFar({ sensors: 20, judged: 0 })).toBe(
    'Nothing needs attention. Usual values are known after a day of history.',
  );
});

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const MINUTE_MS = 60_000;

/** @param id device/sensor @param ms after noon */
const item = (id: string, value: number | null, ms: number = 0, rest: object = {}) => ({
  device_id: id.split('/')[0] ?? '',
  sensor_id: id.split('/')[1] ?? '',
  device: null,
  name: null,
  type: 'pulse',
  unit: null,
  site: 'North',
  ts: value === null ? null : new Date(NOON + ms).toISOString(),
  value,
  ...rest,
});

function faultsAt(fleet: Fleet, now: number) {
  fleet.refreshSilence(now);
  return fleet.listFaults();
}

const stateOf = (fleet: Fleet, id: string) => fleet.sensors.get(id)?.cellState;

test('Fleet store: values and deviations of a sensor arrive: cell state goes from no value to not judged, normal, far off', () => {
  const fleet = new Fleet({ judge });
  fleet.take('d/s', item('d/s', null));
  expect(stateOf(fleet, 'd/s')).toBe(NO_VALUE);
  fleet.take('d/s', item('d/s', 60));
  expect(stateOf(fleet, 'd/s')).toBe(NOT_JUDGED);
  expect(faultsAt(fleet, NOON)).toMatchObject({ farCount: 0, unjudged: 1 });
  fleet.take('d/s', item('d/s', 61, 1000, { sigmas: 0.4 }));
  expect(stateOf(fleet, 'd/s')).toBe(NORMAL);
  fleet.take('d/s', item('d/s', 180, 61_000, { sigmas: 12 }));
  expect(stateOf(fleet, 'd/s')).toBe(2 * NORMAL);
  expect(faultsAt(fleet, NOON + MINUTE_MS)).toMatchObject({ farCount: 1, silentCount: 0, unjudged: 0 });
});

test('Fleet store: newest value arrives again with another deviation: the sensor changes; an older value is ignored', () => {
  const fleet = new Fleet({ judge });
  fleet.take('d/s', item('d/s', 60, 1000));
  expect(fleet.take('d/s', item('d/s', 60, 1000, { sigmas: -8 }))).toMatchObject({ sigmas: -8 });
  expect(faultsAt(fleet, NOON + 1000)).toMatchObject({ farCount: 1 });
  expect(stateOf(fleet, 'd/s')).toBe(0);
  expect(fleet.take('d/s', item('d/s', 60, 0, { sigmas: 1 }))).toBeNull();
  expect(fleet.take('d/s', item('d/s', 60, 1000))).not.toBeNull();
  expect(stateOf(fleet, 'd/s')).toBe(NOT_JUDGED);
});

import { expect, test } from '@jest/globals';
import { judge, LEVELS, NORMAL, NOT_JUDGED } from '../../../../../web/features/baselines/deviation.ts';
import { deviationOf } from '../../../../../web/features/baselines/note.tsx';
import { NO_VALUE } from '../../../../../web/state/cells.ts';
import { Fleet } from '../../../../../web/state/fleet.ts';

const HOURS = [
  { ts: '2026-11-21T11:00:00.000Z', mean: 10, deviation: 1 },
  { ts: '2026-11-21T12:00:00.000Z', mean: 20, deviation: 2 },
];

const judged = (ts: string | null, value: number | null) => deviationOf({ ts, value }, HOURS);

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

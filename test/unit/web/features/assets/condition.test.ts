import { expect, test } from '@jest/globals';
import type { AssetMember, OpenAlarm } from '../../../../../web/features/assets/api.ts';
import type { Condition, KnownFleet } from '../../../../../web/features/assets/condition.ts';
import {
  childOn,
  conditionWords,
  countAlarms,
  judge,
  NO_MEMBERS,
  sensorsOf,
  worstFirst,
} from '../../../../../web/features/assets/condition.ts';
import { CURRENT, SILENT } from '../../../../../web/state/cells.ts';
import type { FleetDevice, FleetSensor } from '../../../../../web/state/fleet.ts';

/** @param devices `sensors`: whether each sensor is silent, by its id; null: it has no value */
function fleetOf(
  devices: Record<string, { presence?: FleetDevice['presence']; sensors: Record<string, boolean | null> }>,
  offline: string[] = [],
): KnownFleet {
  const all: FleetDevice[] = Object.entries(devices).map(([id, { presence = 'online', sensors }]) => ({
    id,
    name: id,
    site: null,
    presence,
    isInOrder: true,
    sensors: Object.entries(sensors).map(
      ([sensor, isSilent]) =>
        ({
          id: sensor,
          key: `${id}/${sensor}`,
          cellState: isSilent ? SILENT : CURRENT,
          at: isSilent === null ? 0 : 1,
        }) as FleetSensor,
    ),
  }));
  return {
    devices: new Map(all.map((device) => [device.id, device])),
    sensors: new Map(all.flatMap(({ sensors }) => sensors.map((sensor) => [sensor.key, sensor]))),
    offline: new Set(offline),
    isWhole: true,
  };
}

const member = (
  path: string,
  device_id: string,
  { sensor = null, own = [] }: { sensor?: string | null; own?: string[] } = {},
): AssetMember => ({
  path,
  asset_id: path,
  levels: [],
  device_id,
  device: device_id,
  sensor_id: sensor,
  sensor,
  own_sensors: own,
});

const alarm = (device_id: string, sensor_id: string, severity: string = 'warning'): OpenAlarm => ({
  device_id,
  sensor_id,
  severity,
  shelved_until: null,
});

test('Condition of assets: devices and sensors at several levels: counted for the asset, and for the child that they are below', () => {
  const fleet = fleetOf(
    {
      press: { sensors: { a: true, b: false } },
      oven: { presence: 'offline', sensors: { a: false } },
      mixer: { presence: 'not_live', sensors: {} },
    },
    ['oven', 'bare'],
  );
  const members = [
    member('P/H', 'press'),
    member('P/H/L', 'oven'),
    member('P/H/L/M', 'bare'),
    member('P/H/X', 'mixer'),
  ];
  const alarms = countAlarms([alarm('press', 'a', 'critical'), alarm('oven', 'a'), alarm('elsewhere', 'a')]);
  const { whole, children } = judge(members, { path: 'P/H', fleet, alarms });
  expect(whole).toEqual({
    devices: 4,
    sensors: 3,
    alarms: 2,
    criticalAlarms: 1,
    offline: 2,
    notLive: 1,
    silent: 1,
    withoutValues: 0,
  });
  expect(Object.fromEntries(children)).toEqual({
    L: { ...NO_MEMBERS, devices: 2, sensors: 1, alarms: 1, offline: 2 },
    X: { ...NO_MEMBERS, devices: 1, notLive: 1 },
  });
  expect([...judge(members, { path: null, fleet, alarms }).children.keys()]).toEqual(['P']);
});

test('Condition of assets: a sensor with a place of its own: it counts there, and not where its device is', () => {
  const fleet = fleetOf({ press: { sensors: { a: true, b: false } } });
  const device = member('P/H', 'press', { own: ['a'] });
  const sensor = member('P/G', 'press', { sensor: 'a' });
  expect(sensorsOf(device, fleet).map(({ id }) => id)).toEqual(['b']);
  expect(sensorsOf(sensor, fleet).map(({ id }) => id)).toEqual(['a']);
  const { children } = judge([device, sensor], { path: 'P', fleet, alarms: new Map() });
  expect(Object.fromEntries(children)).toEqual({
    H: { ...NO_MEMBERS, devices: 1, sensors: 1 },
    G: { ...NO_MEMBERS, sensors: 1, silent: 1 },
  });
});

test('Condition of assets: devices that have sent nothing: counted apart, and not while the fleet is not known', () => {
  const fleet = fleetOf(
    { press: { sensors: { a: false, b: null } }, oven: { sensors: { a: null } }, mill: { sensors: {} } },
    ['bare'],
  );
  const members = ['press', 'oven', 'mill', 'bare', 'absent'].map((device) => member('P', device));
  const judgeBy = (known: KnownFleet) =>
    judge(members, { path: null, fleet: known, alarms: new Map() }).whole;
  expect(judgeBy(fleet)).toMatchObject({ devices: 5, offline: 1, withoutValues: 3 });
  expect(judgeBy({ ...fleet, isWhole: false })).toMatchObject({ devices: 5, offline: 1, withoutValues: 0 });
});

test.each([
  ['P/H', null, 'P'],
  ['P/H/L', 'P', 'H'],
  ['P/H', 'P/H', null],
])('Child of an asset: path %s seen from %s: %s', (path, asset, child) => {
  expect(childOn(path, asset)).toBe(child);
});

test('Assets with faults: sorted: critical alarms, alarms, offline, silent, then by name with numbers', () => {
  const item = (name: string, condition: Partial<Condition>) => ({
    name,
    condition: { ...NO_MEMBERS, devices: 1, ...condition },
  });
  const items = [
    item('Line 10', {}),
    item('silent', { silent: 9 }),
    item('Line 9', {}),
    item('alarm', { alarms: 1 }),
    item('critical', { alarms: 1, criticalAlarms: 1 }),
    item('not live', { notLive: 3 }),
    item('without values', { withoutValues: 4 }),
    item('offline', { offline: 1 }),
    item('two alarms', { alarms: 2 }),
  ];
  expect(worstFirst(items).map(({ name }) => name)).toEqual([
    'critical',
    'two alarms',
    'alarm',
    'offline',
    'silent',
    'not live',
    'without values',
    'Line 9',
    'Line 10',
  ]);
});

test.each<[Partial<Condition>, string, string]>([
  [{}, 'No devices', 'quiet'],
  [{ sensors: 1 }, 'All in order', 'good'],
  [{ devices: 2, offline: 1, silent: 2 }, '1 device offline · 2 sensors silent', 'warn'],
  [{ devices: 2, alarms: 1, criticalAlarms: 1 }, '1 alarm', 'bad'],
  [{ devices: 2, notLive: 1 }, '1 device not live', 'quiet'],
  [{ devices: 2, withoutValues: 2 }, '2 devices without values', 'quiet'],
])('Words for a condition %j: %s, tone %s', (condition, text, tone) => {
  expect(conditionWords({ ...NO_MEMBERS, ...condition })).toEqual({ text, tone });
});

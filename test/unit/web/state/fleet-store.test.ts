import { expect, test } from '@jest/globals';
import { NOT_LIVE, OFFLINE, SILENT } from '../../../../web/state/cells.ts';
import { Fleet } from '../../../../web/state/fleet.ts';
import { createInputQueue } from '../../../../web/state/frames.ts';

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

/** @param until number of values, one per second */
function steady(fleet: Fleet, id: string, until: number = 60) {
  for (let second = 0; second < until; second += 1)
    fleet.take(id, item(id, 60 + (second % 5), second * 1000, { interval_ms: 1000 }));
}

function faultsAt(fleet: Fleet, now: number) {
  fleet.refreshSilence(now);
  return fleet.listFaults();
}

const stateOf = (fleet: Fleet, id: string) => fleet.sensors.get(id)?.cellState;

test('Faults of the fleet: the list has a filter: only matching sensors and their devices count', () => {
  const fleet = new Fleet();
  for (const id of ['north/ear', 'south/ear']) steady(fleet, id);
  const inNorth = ({ key }: { key: string }) => key.startsWith('north');
  fleet.setPresence(new Map([['south', 'offline']]));
  expect(fleet.listFaults()).toMatchObject({
    sensorCount: 2,
    offlineSensors: 1,
    offline: [{ id: 'south' }],
  });
  expect(fleet.listFaults(inNorth)).toMatchObject({ sensorCount: 1, offlineSensors: 0, offline: [] });
});

test('Fleet store: older or repeated value of a sensor: ignored; other value for the same instant: replaces the first', () => {
  const fleet = new Fleet();
  expect(fleet.take('d/s', item('d/s', 1, 1000))).not.toBeNull();
  expect(fleet.take('d/s', item('d/s', 1, 1000))).toBeNull();
  expect(fleet.take('d/s', item('d/s', 5, 0))).toBeNull();
  expect(fleet.take('d/s', item('d/s', 7, 1000))?.value).toBe(7);
});

test('Fleet store: drain(): returns each changed sensor once; the layout version changes only with new names', () => {
  const fleet = new Fleet();
  fleet.take('d/s', item('d/s', 1));
  fleet.take('d/s', item('d/s', 2, 1000));
  expect(fleet.drain().map(({ key }) => key)).toEqual(['d/s']);
  expect(fleet.drain()).toEqual([]);
  const before = fleet.structure();
  fleet.take('d/s', item('d/s', 3, 2000));
  expect(fleet.structure()).toBe(before);
  fleet.take('d/s', item('d/s', 4, 3000, { device: 'Collar', site: 'South' }));
  expect(fleet.structure()).not.toBe(before);
  expect(fleet.sensors.get('d/s')?.device).toMatchObject({ name: 'Collar', site: 'South' });
});

test('Fleet store: a device is retired: the device, its sensors and pending changes of these sensors are removed', () => {
  const fleet = new Fleet();
  for (const id of ['d/a', 'd/b', 'e/a']) fleet.take(id, item(id, 60));
  const before = fleet.structure();
  fleet.forget('d');
  fleet.forget('unknown');
  expect([...fleet.sensors.keys()]).toEqual(['e/a']);
  expect([...fleet.devices.keys()]).toEqual(['e']);
  expect(fleet.drain().map(({ key }) => key)).toEqual(['e/a']);
  expect(fleet.structure()).toBe(before + 1);
});

test('Fleet store: a snapshot lacks some sensors: these sensors and devices without other sensors are removed', () => {
  const fleet = new Fleet();
  for (const id of ['d/a', 'd/b', 'e/a', 'f/a']) fleet.take(id, item(id, 60), true);
  fleet.noteRead();
  const before = fleet.structure();
  // Two sensors that the next snapshot lacks have sent values since the first one.
  for (const id of ['d/b', 'e/a']) fleet.take(id, item(id, 61, 1000));
  fleet.take('d/a', item('d/a', 60), true);
  fleet.noteRead();
  // This sensor changes while the API sends the snapshot.
  fleet.take('f/a', item('f/a', 61, 1000));
  fleet.expect(2);
  expect(fleet.sensors.size).toBe(4);
  fleet.expect(2);
  expect([...fleet.sensors.keys()]).toEqual(['d/a', 'f/a']);
  expect([...fleet.devices.values()].map(({ id, sensors }) => [id, sensors.length])).toEqual([
    ['d', 1],
    ['f', 1],
  ]);
  expect(fleet.drain().map(({ key }) => key)).toEqual(['d/a', 'f/a']);
  expect(fleet.structure()).toBe(before + 1);
});

test('Fleet store: empty snapshot: all sensors are removed; incomplete snapshot: no sensor is removed', () => {
  const fleet = new Fleet();
  for (const id of ['d/a', 'e/a']) fleet.take(id, item(id, 60), true);
  fleet.noteRead();
  fleet.take('d/a', item('d/a', 60), true);
  for (const count of [2, 2]) fleet.expect(count);
  expect(fleet.sensors.size).toBe(2);
  fleet.take('d/a', item('d/a', 61, 1000));
  fleet.noteRead();
  for (const count of [0, 0]) fleet.expect(count);
  expect([fleet.sensors.size, fleet.devices.size]).toEqual([0, 0]);
});

test('Fleet store: the API counts fewer sensors twice in a row: the store counts as outdated until the next snapshot', () => {
  const fleet = new Fleet();
  const readAll = () => {
    for (const id of ['d/a', 'e/a']) fleet.take(id, item(id, 60), true);
    fleet.noteRead();
  };
  const isOutdatedAfter = (...counts: number[]) =>
    counts.map((count) => {
      fleet.expect(count);
      return fleet.isOutdated();
    });
  readAll();
  expect(isOutdatedAfter(1, 2, 1, 1)).toEqual([false, false, false, true]);
  readAll();
  expect(isOutdatedAfter(1, 1)).toEqual([false, true]);
});

test('Fleet store: a sensor sends no value for five minutes, or for five intervals: silent until the next value', () => {
  const fleet = new Fleet();
  steady(fleet, 'd/quick');
  fleet.take('d/slow', item('d/slow', 60, 0, { interval_ms: 60 * MINUTE_MS }));
  expect(faultsAt(fleet, NOON + 5 * MINUTE_MS).silentCount).toBe(0);
  const { silent } = faultsAt(fleet, NOON + 7 * MINUTE_MS);
  expect(silent.map(({ key }) => key)).toEqual(['d/quick']);
  expect(stateOf(fleet, 'd/quick')).toBe(SILENT);
  expect(faultsAt(fleet, NOON + 6 * 60 * MINUTE_MS).silentCount).toBe(2);
  fleet.take('d/quick', item('d/quick', 61, 400 * MINUTE_MS));
  expect(stateOf(fleet, 'd/quick')).not.toBe(SILENT);
});

test('Fleet store: a device is not live: its sensors have a state of their own, and are no faults', () => {
  const fleet = new Fleet();
  steady(fleet, 'd/s');
  fleet.setPresence(new Map([['d', 'not_live']]));
  const faults = faultsAt(fleet, NOON + 60 * MINUTE_MS);
  expect(faults).toMatchObject({ silentCount: 0, farCount: 0, offline: [], notLiveSensors: 1 });
  expect(stateOf(fleet, 'd/s')).toBe(NOT_LIVE);
});

test('Fleet store: a device is offline: its sensors count as offline, not as silent, until the device is online', () => {
  const fleet = new Fleet();
  steady(fleet, 'd/s');
  fleet.drain();
  fleet.setPresence(new Map([['d', 'offline']]));
  expect(fleet.drain()).toHaveLength(1);
  const faults = faultsAt(fleet, NOON + 60 * MINUTE_MS);
  expect(faults).toMatchObject({ silentCount: 0, farCount: 0, offlineSensors: 1 });
  expect(stateOf(fleet, 'd/s')).toBe(OFFLINE);
  fleet.setPresence(new Map());
  expect(faultsAt(fleet, NOON + 60 * MINUTE_MS).silentCount).toBe(1);
});

test('Fleet store: more sensors than the limit of the store: surplus sensors are ignored and counted', () => {
  const fleet = new Fleet({ limit: 2 });
  for (const id of ['a/1', 'b/1', 'c/1']) fleet.take(id, item(id, 1));
  expect(fleet.sensors.size).toBe(2);
  expect(fleet.overflow()).toBe(1);
  fleet.setFilter({ site: 'South' });
  expect(fleet.take('a/1', item('a/1', 1))).toBeNull();
  expect(fleet.overflow()).toBe(0);
  expect(fleet.take('c/1', item('c/1', 1, 0, { site: 'South' }))).not.toBeNull();
  fleet.setFilter({});
  expect(fleet.take('a/1', item('a/1', 1))).not.toBeNull();
});

function start({ hidden = false, costMs = 1 }: { hidden?: boolean; costMs?: number } = {}) {
  let now = 0;
  const frames: (() => void)[] = [];
  const taken: string[] = [];
  const input = createInputQueue({
    take(text) {
      taken.push(text);
      now += costMs;
    },
    requestFrame: (run) => frames.push(run),
    isHidden: () => hidden,
    clock: () => now,
  });
  return { input, taken, nextFrame: () => frames.shift()?.() };
}

test('Queue of event stream messages: many messages arrive: processed in order, spread over animation frames', () => {
  const { input, taken, nextFrame } = start();
  for (const text of ['a', 'b', 'c', 'd', 'e']) input.push(text);
  expect(taken).toEqual(['a']);
  nextFrame();
  expect(taken).toEqual(['a', 'b']);
  nextFrame();
  expect(taken).toEqual(['a', 'b', 'c', 'd']);
  nextFrame();
  input.push('f');
  expect(taken).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('Queue of event stream messages: page hidden, or too many messages wait: messages are processed at once', () => {
  const behind = start({ hidden: true });
  for (const text of ['a', 'b', 'c']) behind.input.push(text);
  expect(behind.taken).toEqual(['a', 'b', 'c']);
  const slow = start({ costMs: 1000 });
  for (let i = 0; i < 1000; i += 1) slow.input.push(`${i}`);
  expect(slow.taken.length).toBeGreaterThan(700);
});

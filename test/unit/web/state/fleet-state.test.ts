import { beforeEach, expect, test } from '@jest/globals';
import { type Signal, signal } from '@preact/signals';
import type { StreamStatus } from '../../../../web/api/stream/index.ts';
import type { DeviceItem } from '../../../../web/api/types.ts';
import { Fleet } from '../../../../web/state/fleet.ts';
import { awayDevices, createFleetState, sensorsOnline } from '../../../../web/state/fleet-state.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const HOUR_MS = 3_600_000;

let status: Signal<StreamStatus>;
let fleet: Fleet;
let fleetState: ReturnType<typeof createFleetState>;
let now = NOON;

/** @param not_live devices */
const counted = (online: number, offline: number, not_live: number = 0) => ({
  devices: { online, offline, not_live },
  sensors: 2,
  by_type: {},
  by_site: {},
});

const awayItem = (device_id: string, state: DeviceItem['state'] = 'offline'): DeviceItem => ({
  device_id,
  name: null,
  site: null,
  label: null,
  state,
  online: state === 'online',
  last_seen: null,
});

/** @param ids all devices that are offline */
const away = (...ids: string[]) => ({
  devices: new Map(ids.map((id) => [id, awayItem(id)])),
  isWhole: true,
});

function become(next: StreamStatus) {
  status.value = next;
  fleetState.noteStatus();
}

/** @param ms later */
function stateAfter(ms: number) {
  now += ms;
  fleetState.update();
  const { faults, info, now: at } = fleetState.figures.peek();
  return {
    silent: faults.silentCount,
    offline: faults.offlineSensors,
    counted: info?.devices.offline,
    at: at - NOON,
  };
}

beforeEach(() => {
  now = NOON;
  status = signal('connecting' as StreamStatus);
  fleet = new Fleet();
  for (const device_id of ['a', 'b']) {
    const ts = new Date(NOON).toISOString();
    const labels = { device: null, name: null, type: null, unit: null, site: null };
    fleet.take(`${device_id}/s`, { device_id, sensor_id: 's', ...labels, interval_ms: 1000, ts, value: 1 });
  }
  fleetState = createFleetState({ fleet, status, clock: { time: { peek: () => now }, now: () => now } });
});

test('Fleet state: device counts of the API arrive: published at once, together with the list of offline devices', () => {
  become('live');
  expect(fleetState.figures.peek().info).toBeNull();
  fleetState.count(counted(1, 1), away('a'));
  const { faults, info } = fleetState.figures.peek();
  expect([faults.offlineSensors, info?.devices.offline]).toEqual([1, 1]);
});

test('Fleet state: a device that announced no state is not live: nothing counts as a fault', () => {
  become('live');
  const devices = new Map([
    ['a', awayItem('a', 'not_live')],
    ['new', awayItem('new', 'not_live')],
  ]);
  fleetState.count(counted(2, 0, 1), { devices, isWhole: true });
  const { faults, info } = fleetState.figures.peek();
  expect(faults).toMatchObject({ offline: [], offlineSensors: 0, silentCount: 0, notLiveSensors: 1 });
  expect(info?.devices).toEqual({ online: 1, offline: 0, not_live: 2 });
  expect(sensorsOnline({ faults, info }, fleet)).toBe(1);
});

test('Fleet state: number of online sensors: null unless the page has loaded all sensors of the fleet', () => {
  const online = () => sensorsOnline(fleetState.figures.peek(), fleet);
  become('live');
  expect(online()).toBeNull();
  fleetState.count({ ...counted(1, 1), sensors: 100_000 }, away('a'));
  expect(online()).toBeNull();
  fleetState.count(counted(1, 1), away('a'));
  expect(online()).toBe(1);
  fleet.setFilter({ site: 'North' });
  fleetState.count(counted(1, 1), away('a'));
  expect(online()).toBeNull();
});

test('Fleet state: the connection to the API is lost: the last counts stay until the next snapshot is complete', () => {
  become('live');
  fleetState.count(counted(1, 1), away('a'));
  const last = stateAfter(5000);
  expect(last).toEqual({ silent: 0, offline: 1, counted: 1, at: 5000 });
  become('reconnecting');
  fleetState.count(counted(0, 2), away('a', 'b'));
  expect(stateAfter(HOUR_MS)).toEqual(last);
  become('live');
  fleetState.count(counted(0, 2), away('a', 'b'));
  expect(stateAfter(1000)).toEqual(last);
  expect(stateAfter(3000)).toMatchObject({ offline: 2, counted: 2 });
});

test('Fleet state: no ingest process stores values: no sensor is reported as silent, and the last counts of devices stay', () => {
  become('live');
  stateAfter(5000);
  fleetState.count(counted(1, 1), away('a'));
  fleetState.noteStale(now);
  fleetState.count(counted(0, 2), away('a', 'b'));
  expect(stateAfter(HOUR_MS)).toMatchObject({ silent: 0, offline: 1, counted: 1 });
  fleetState.noteStale(null);
  expect(stateAfter(1000)).toMatchObject({ silent: 0, counted: 1 });
  fleetState.count(counted(2, 0), away());
  expect(stateAfter(3000)).toMatchObject({ silent: 1, offline: 1, counted: 1 });
  fleetState.count(counted(2, 0), away());
  expect(stateAfter(1000)).toMatchObject({ silent: 2, counted: 0 });
});

test('Fleet state: all values are an hour old: sensors are reported as silent only once the snapshot is complete', () => {
  now += HOUR_MS;
  expect(stateAfter(0).silent).toBe(0);
  become('live');
  expect(stateAfter(1000).silent).toBe(0);
  expect(stateAfter(3000).silent).toBe(2);
});

test.each([
  [2, true],
  [2000, false],
])(
  'List of offline devices: the API returns %d pages of one device: the list is complete: %p',
  async (pages, isWhole) => {
    let page = 0;
    const client = {
      devices: async () => {
        page += 1;
        return { items: [awayItem(`device-${page}`)], next: page < pages ? `page-${page}` : null };
      },
    };
    const found = await awayDevices(client, counted(0, pages));
    expect(found.isWhole).toBe(isWhole);
    expect(found.devices.size).toBe(page);
  },
);

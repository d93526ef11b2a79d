import { beforeEach, describe, expect, test } from '@jest/globals';
import { createFleet } from '../../../web/state/fleet.js';
import { createFleetState } from '../../../web/state/fleet-state.js';
import { createObservable } from '../../../web/state/observable.js';

/** @import { StreamStatus } from '../../../web/api/stream.js' */
/** @import { Observable } from '../../../web/state/observable.js' */

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const HOUR_MS = 3_600_000;

/** @type {Observable<StreamStatus>} */
let status;
/** @type {ReturnType<typeof createFleetState>} */
let fleetState;
let now = NOON;

/** @param {number} online @param {number} offline devices */
const counted = (online, offline) => ({ devices: { online, offline }, sensors: 2, by_type: {}, by_site: {} });

/** @param {StreamStatus} next */
function become(next) {
  status.set(next);
  fleetState.noteStatus();
}

/** @param {number} ms later */
function stateAfter(ms) {
  now += ms;
  fleetState.update();
  const { outliers, info, now: at } = fleetState.observable.get();
  return {
    silent: outliers.silentCount,
    offline: outliers.offlineSensors,
    counted: info?.devices.offline,
    at: at - NOON,
  };
}

beforeEach(() => {
  now = NOON;
  status = createObservable(/** @type {StreamStatus} */ ('connecting'));
  const fleet = createFleet();
  for (const device_id of ['a', 'b']) {
    const ts = new Date(NOON).toISOString();
    const labels = { device: null, name: null, type: null, unit: null, site: null };
    fleet.take(`${device_id}/s`, { device_id, sensor_id: 's', ...labels, ts, value: 1 });
  }
  fleetState = createFleetState({ fleet, status, clock: { get: () => now, now: () => now } });
});

describe('Fleet state', () => {
  test('a new count: published at once with its offline devices', () => {
    become('live');
    expect(fleetState.observable.get().info).toBeNull();
    fleetState.count(counted(1, 1), new Set(['a']));
    const { outliers, info } = fleetState.observable.get();
    expect([outliers.offlineSensors, info?.devices.offline]).toEqual([1, 1]);
  });

  test('connection lost: the last state stays until the next snapshot is complete', () => {
    become('live');
    fleetState.count(counted(1, 1), new Set(['a']));
    const last = stateAfter(5000);
    expect(last).toEqual({ silent: 0, offline: 1, counted: 1, at: 5000 });
    become('reconnecting');
    fleetState.count(counted(0, 2), new Set(['a', 'b']));
    expect(stateAfter(HOUR_MS)).toEqual(last);
    become('live');
    fleetState.count(counted(0, 2), new Set(['a', 'b']));
    expect(stateAfter(1000)).toEqual(last);
    expect(stateAfter(3000)).toMatchObject({ offline: 2, counted: 2 });
  });

  test('before the snapshot: no sensor is silent; after it: those that are', () => {
    now += HOUR_MS;
    expect(stateAfter(0).silent).toBe(0);
    become('live');
    expect(stateAfter(1000).silent).toBe(0);
    expect(stateAfter(3000).silent).toBe(2);
  });
});

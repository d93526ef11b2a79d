import { beforeEach, describe, expect, test } from '@jest/globals';
import { createFleet } from '../../../web/state/fleet.js';
import { createReviewing } from '../../../web/state/fleet-state.js';
import { createObservable } from '../../../web/state/observable.js';

/** @import { StreamStatus } from '../../../web/api/stream.js' */
/** @import { Observable } from '../../../web/state/observable.js' */

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const HOUR_MS = 3_600_000;

/** @type {Observable<StreamStatus>} */
let status;
/** @type {ReturnType<typeof createReviewing>} */
let reviewing;
let now = NOON;

/** @param {number} online @param {number} offline devices */
const counted = (online, offline) => ({ devices: { online, offline }, sensors: 2, by_type: {}, by_site: {} });

/** @param {StreamStatus} next */
function become(next) {
  status.set(next);
  reviewing.noteStatus();
}

/** @param {number} ms later */
function lookAfter(ms) {
  now += ms;
  reviewing.look();
  const { review, info, now: at } = reviewing.reviewed.get();
  return {
    silent: review.silentCount,
    offline: review.offlineSensors,
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
  reviewing = createReviewing({ fleet, status, clock: { get: () => now, now: () => now } });
});

describe('what is shown of the fleet together', () => {
  test('is of one moment: a count comes with the devices that it counts, and is there at once', () => {
    become('live');
    expect(reviewing.reviewed.get().info).toBeNull();
    reviewing.count(counted(1, 1), new Set(['a']));
    const { review, info } = reviewing.reviewed.get();
    expect([review.offlineSensors, info?.devices.offline]).toEqual([1, 1]);
  });

  test('stands still while the connection is lost, and until all was told anew', () => {
    become('live');
    reviewing.count(counted(1, 1), new Set(['a']));
    const last = lookAfter(5000);
    expect(last).toEqual({ silent: 0, offline: 1, counted: 1, at: 5000 });
    become('reconnecting');
    reviewing.count(counted(0, 2), new Set(['a', 'b']));
    expect(lookAfter(HOUR_MS)).toEqual(last);
    become('live');
    reviewing.count(counted(0, 2), new Set(['a', 'b']));
    expect(lookAfter(1000)).toEqual(last);
    expect(lookAfter(3000)).toMatchObject({ offline: 2, counted: 2 });
  });

  test('calls nobody silent before the snapshot is there, and then those who are', () => {
    now += HOUR_MS;
    expect(lookAfter(0).silent).toBe(0);
    become('live');
    expect(lookAfter(1000).silent).toBe(0);
    expect(lookAfter(3000).silent).toBe(2);
  });
});

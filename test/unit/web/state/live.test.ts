import { expect, test } from '@jest/globals';
import { createLive } from '../../../../web/state/live.ts';

/** @import { StreamListeners } from '../../../../web/api/stream/index.ts' */

/**
 * @param {Pick<StreamListeners, 'onItems'>} listeners
 * @param {string[]} devices each has one sensor
 * @param {boolean} isLast whether the event completes a snapshot
 */
function sendSnapshot({ onItems }, devices, isLast = true) {
  const labels = { device: null, name: null, type: null, unit: null, site: null };
  const items = devices.map((device_id) => ({
    ...{ device_id, sensor_id: 's', ...labels },
    ...{ ts: '2026-11-21T12:00:00.000Z', value: 1 },
  }));
  onItems(JSON.stringify({ items }), isLast);
}

/** @returns the live fleet, and a function that processes all events that the stream sent */
function startLive() {
  /** @type {Array<() => void>} */
  const frames = [];
  /** @type {Omit<StreamListeners, 'onRefused'>} */
  let stream = /** @type {any} */ (null);
  const live = createLive({
    openStream(listeners) {
      stream = listeners;
      return { follow() {}, again() {}, stop() {} };
    },
    requestFrame: (run) => frames.push(run),
  });
  const drawAll = () => {
    for (const run of frames.splice(0)) run();
  };
  return {
    ...{ live, drawAll },
    /** @param {string[]} devices @param {boolean} [isLast] */
    send: (devices, isLast) => sendSnapshot(stream, devices, isLast),
  };
}

test('Live fleet: snapshot of the whole fleet without a known device: the device is removed; snapshot of one device: all stay', () => {
  const { live, drawAll, send } = startLive();
  const devicesAfterCounts = (/** @type {number} */ sensors) => {
    for (const count of [sensors, sensors]) live.fleet.expect(count);
    return [...live.fleet.devices.keys()];
  };
  live.follow({});
  send(['a', 'b']);
  live.follow({ devices: ['a'] });
  // This snapshot waits for the next frame. By then the page follows the whole fleet again.
  send(['a']);
  live.follow({});
  drawAll();
  expect(devicesAfterCounts(2)).toEqual(['a', 'b']);
  send(['a', 'b']);
  drawAll();
  live.readAgain();
  send(['a']);
  drawAll();
  expect(devicesAfterCounts(1)).toEqual(['a']);
  live.stop();
});

test('Live fleet: a snapshot is incomplete: no second snapshot is requested before the end of the first', () => {
  const { live, drawAll, send } = startLive();
  live.follow({});
  send(['a', 'b']);
  drawAll();
  for (const count of [1, 1]) live.fleet.expect(count);
  expect(live.fleet.isOutdated()).toBe(true);
  live.readAgain();
  send(['a'], false);
  drawAll();
  live.fleet.expect(1);
  expect(live.fleet.isOutdated()).toBe(false);
  live.stop();
});

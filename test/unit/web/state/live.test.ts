import { expect, test } from '@jest/globals';
import type { StreamListeners } from '../../../../web/api/stream/index.ts';
import { Live } from '../../../../web/state/live.ts';

/** @param devices each has one sensor @param isLast whether the event completes a snapshot */
function sendSnapshot(
  { onItems }: Pick<StreamListeners, 'onItems'>,
  devices: string[],
  isLast: boolean = true,
) {
  const labels = { device: null, name: null, type: null, unit: null, site: null };
  const items = devices.map((device_id) => ({
    ...{ device_id, sensor_id: 's', ...labels },
    ...{ ts: '2026-11-21T12:00:00.000Z', value: 1 },
  }));
  onItems(JSON.stringify({ items }), isLast);
}

/** @returns the live fleet, and a function that processes all events that the stream sent */
function startLive() {
  const frames: Array<() => void> = [];
  let stream: Omit<StreamListeners, 'onRefused'> = null as never;
  const live = new Live({
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
    send: (devices: string[], isLast?: boolean) => sendSnapshot(stream, devices, isLast),
  };
}

test('Live fleet: snapshot of the whole fleet without a known device: the device is removed; snapshot of one device: all stay', () => {
  const { live, drawAll, send } = startLive();
  const devicesAfterCounts = (sensors: number) => {
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

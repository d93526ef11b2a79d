import { expect, test } from '@jest/globals';
import { createLive } from '../../../../web/state/live.ts';

/** Stands in for EventSource: the test sends its events. */
class Source extends EventTarget {
  static CLOSED = 2;
  /** @type {Source[]} */
  static opened = [];
  readyState = 1;

  constructor() {
    super();
    Source.opened.push(this);
  }

  close() {}

  /** @param {string[]} devices each has one sensor @param {string} [lastEventId] '': more events follow */
  sendSnapshot(devices, lastEventId = 'x-1') {
    const labels = { device: null, name: null, type: null, unit: null, site: null };
    const items = devices.map((device_id) => ({
      ...{ device_id, sensor_id: 's', ...labels },
      ...{ ts: '2026-11-21T12:00:00.000Z', value: 1 },
    }));
    const data = JSON.stringify({ items });
    this.dispatchEvent(Object.assign(new Event('snapshot'), { data, lastEventId }));
  }
}

const newest = () => /** @type {Source} */ (Source.opened.at(-1));

/** @returns the live fleet, and a function that processes all events that the stream sent */
function startLive() {
  /** @type {Array<() => void>} */
  const frames = [];
  const live = createLive({
    EventSource: /** @type {any} */ (Source),
    requestFrame: (run) => frames.push(run),
    onRefused: () => {},
  });
  const drawAll = () => {
    for (const run of frames.splice(0)) run();
  };
  return { live, drawAll };
}

test('Live fleet: snapshot of the whole fleet without a known device: the device is removed; snapshot of one device: all stay', () => {
  const { live, drawAll } = startLive();
  const devicesAfterCounts = (/** @type {number} */ sensors) => {
    for (const count of [sensors, sensors]) live.fleet.expect(count);
    return [...live.fleet.devices.keys()];
  };
  live.follow({});
  newest().sendSnapshot(['a', 'b']);
  live.follow({ devices: ['a'] });
  // This snapshot waits for the next frame. By then the page follows the whole fleet again.
  newest().sendSnapshot(['a']);
  live.follow({});
  drawAll();
  expect(devicesAfterCounts(2)).toEqual(['a', 'b']);
  newest().sendSnapshot(['a', 'b']);
  drawAll();
  live.readAgain();
  newest().sendSnapshot(['a']);
  drawAll();
  expect(devicesAfterCounts(1)).toEqual(['a']);
  live.stop();
});

test('Live fleet: a snapshot is incomplete: no second snapshot is requested before the end of the first', () => {
  const { live, drawAll } = startLive();
  live.follow({});
  newest().sendSnapshot(['a', 'b']);
  drawAll();
  for (const count of [1, 1]) live.fleet.expect(count);
  expect(live.fleet.isOutdated()).toBe(true);
  live.readAgain();
  newest().sendSnapshot(['a'], '');
  drawAll();
  live.fleet.expect(1);
  expect(live.fleet.isOutdated()).toBe(false);
  live.stop();
});

import { expect, test } from '@jest/globals';
import { createLive } from '../../../../web/state/live.ts';

/** A source of events that the test sends. */
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

  /** @param {string[]} devices each has one sensor @param {string} [lastEventId] '': more follows */
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

/** @returns the state of the live fleet, and what draws all that the stream sent */
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

test('Live: a device was retired: a snapshot of the fleet removes it; one of a device does not', () => {
  const { live, drawAll } = startLive();
  const devicesAfterCounts = (/** @type {number} */ sensors) => {
    for (const count of [sensors, sensors]) live.fleet.expect(count);
    return [...live.fleet.devices.keys()];
  };
  live.follow({});
  newest().sendSnapshot(['a', 'b']);
  live.follow({ devices: ['a'] });
  // It waits for the next frame, when the whole fleet is followed again.
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

test('Live: a snapshot of the fleet takes long: it is not asked for again before it is complete', () => {
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

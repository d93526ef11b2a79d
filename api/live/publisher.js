import { liveItem } from './messages.js';

/** @import { Device, Sensor } from '../ingest/registry/cache.js' */
/** @import { Transport } from './index.js' */

/** The first change of a device is published at once. The next ones wait for the end of this interval, in ms. */
const INTERVAL_MS = 50;

/** Items of one message. With names of 128 bytes this is about 100 KB. */
const MOST_ITEMS = 100;

/** Committed changes of a device that are not published yet. @typedef {{ sensors: Set<Sensor>, since: number }} Changes `since`: the oldest commit, in ms of `performance.now()` */

/**
 * Publishes what ingest has committed, only the newest value of each sensor. Most devices send less often than the interval, so
 * their changes are published without delay and wait only for the readers' own interval.
 *
 * @param {object} transport
 * @param {(device: string) => boolean} transport.isWanted whether the device may have subscribers
 * @param {Transport['publish']} transport.publish
 */
export function createPublisher({ isWanted, publish }) {
  /** Devices that were published in this interval, with their changes since then. @type {Map<Device, Changes>} */
  const recent = new Map();
  /** Devices without a change in the interval before. @type {Device[]} */
  let due = [];
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  /** @param {Device} device @param {Changes} changes */
  function send(device, { sensors, since }) {
    const items = [...sensors].map((sensor) => liveItem(device, sensor));
    sensors.clear();
    for (let from = 0; from < items.length; from += MOST_ITEMS) {
      publish(device.id, items.slice(from, from + MOST_ITEMS), since);
    }
  }

  function publishDue() {
    const devices = due;
    due = [];
    for (const device of devices) {
      const changes = recent.get(device);
      if (changes) send(device, changes);
    }
  }

  function publishRecent() {
    for (const [device, changes] of recent) {
      if (changes.sensors.size === 0) recent.delete(device);
      else send(device, changes);
    }
    if (recent.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** @param {Device} device @param {Sensor[]} sensors with a newer committed value */
    publishChanges(device, sensors) {
      if (!isWanted(device.id)) return;
      let changes = recent.get(device);
      if (!changes) {
        changes = { sensors: new Set(), since: 0 };
        recent.set(device, changes);
        // One turn of the event loop settles many messages. Their changes leave together.
        if (due.push(device) === 1) setImmediate(publishDue);
        timer ??= setInterval(publishRecent, INTERVAL_MS).unref();
      }
      if (changes.sensors.size === 0) changes.since = performance.now();
      for (const sensor of sensors) changes.sensors.add(sensor);
    },

    /** Publishes the changes that still wait. */
    stop() {
      publishRecent();
      clearInterval(timer);
    },
  };
}

import { liveItem } from './messages.js';

/** @import { Device, Sensor } from '../ingest/registry/cache.js' */
/** @import { Link } from './index.js' */

/** A device is told of at once when it was quiet, and then no more often than this, in ms. */
const INTERVAL_MS = 50;

/** Items of one message: with names of 128 bytes some 100 KB. */
const MOST_ITEMS = 100;

/** What was committed of a device and is not told yet; `since`: the oldest of it, in ms of `performance.now()`. @typedef {{ sensors: Set<Sensor>, since: number }} Changes */

/**
 * Tells what ingest has committed, of each sensor the newest alone. A device that sends less often than the interval,
 * as most do, is told of without delay, so that the readers' own interval is the only one that a change waits for.
 *
 * @param {object} link where it is told
 * @param {(device: string) => boolean} link.isWanted whether anybody may be listening
 * @param {Link['publish']} link.publish
 */
export function createPublisher({ isWanted, publish }) {
  /** @type {Map<Device, Changes>} devices told of in this interval, and what has changed since */
  const recent = new Map();
  /** @type {Device[]} that were quiet until now */
  let due = [];
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  /** @param {Device} device @param {Changes} changes */
  function tell(device, { sensors, since }) {
    const items = [...sensors].map((sensor) => liveItem(device, sensor));
    sensors.clear();
    for (let from = 0; from < items.length; from += MOST_ITEMS) {
      publish(device.id, items.slice(from, from + MOST_ITEMS), since);
    }
  }

  function tellDue() {
    const devices = due;
    due = [];
    for (const device of devices) {
      const changes = recent.get(device);
      if (changes) tell(device, changes);
    }
  }

  function tellRecent() {
    for (const [device, changes] of recent) {
      if (changes.sensors.size === 0) recent.delete(device);
      else tell(device, changes);
    }
    if (recent.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** @param {Device} device @param {Sensor[]} sensors that have a newer value, which is committed */
    note(device, sensors) {
      if (!isWanted(device.id)) return;
      let changes = recent.get(device);
      if (!changes) {
        changes = { sensors: new Set(), since: 0 };
        recent.set(device, changes);
        // A turn of the event loop settles many messages; what they changed goes out together.
        if (due.push(device) === 1) setImmediate(tellDue);
        timer ??= setInterval(tellRecent, INTERVAL_MS).unref();
      }
      if (changes.sensors.size === 0) changes.since = performance.now();
      for (const sensor of sensors) changes.sensors.add(sensor);
    },

    /** Tells what still waits. */
    stop() {
      tellRecent();
      clearInterval(timer);
    },
  };
}

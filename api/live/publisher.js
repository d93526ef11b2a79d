import { liveItem } from './item.js';

/** A device is told of at once when it was quiet, and then no more often than this, in ms. */
const INTERVAL_MS = 50;

/** Items of one message: with names of 128 bytes some 100 KB. */
const MOST_ITEMS = 100;

/** @typedef {import('../ingest/registry/cache.js').Device} Device */
/** @typedef {import('../ingest/registry/cache.js').Sensor} Sensor */

/**
 * Tells what ingest has committed, of each sensor the newest alone. A device that sends less often than the interval,
 * as most do, is told of without delay, so that the readers' own interval is the only one that a change waits for.
 *
 * @param {object} link where it is told
 * @param {(device: string) => boolean} link.isWanted whether anybody may be listening
 * @param {(device: string, items: import('./item.js').LiveItem[]) => void} link.publish
 */
export function createPublisher({ isWanted, publish }) {
  /** @type {Map<Device, Set<Sensor>>} devices told of in this interval, and what has changed since */
  const recent = new Map();
  /** @type {Device[]} that were quiet until now */
  let due = [];
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  /** @param {Device} device @param {Set<Sensor>} changed */
  function tell(device, changed) {
    const items = [...changed].map((sensor) => liveItem(device, sensor));
    changed.clear();
    for (let from = 0; from < items.length; from += MOST_ITEMS) {
      publish(device.id, items.slice(from, from + MOST_ITEMS));
    }
  }

  function tellDue() {
    const devices = due;
    due = [];
    for (const device of devices) {
      const changed = recent.get(device);
      if (changed) tell(device, changed);
    }
  }

  function tellRecent() {
    for (const [device, changed] of recent) {
      if (changed.size === 0) recent.delete(device);
      else tell(device, changed);
    }
    if (recent.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** @param {Device} device @param {Sensor[]} sensors that have a newer value, which is committed */
    note(device, sensors) {
      if (!isWanted(device.id)) return;
      let changed = recent.get(device);
      if (!changed) {
        changed = new Set();
        recent.set(device, changed);
        // A turn of the event loop settles many messages; what they changed goes out together.
        if (due.push(device) === 1) setImmediate(tellDue);
        timer ??= setInterval(tellRecent, INTERVAL_MS).unref();
      }
      for (const sensor of sensors) changed.add(sensor);
    },

    /** Tells what still waits. */
    stop() {
      tellRecent();
      clearInterval(timer);
    },
  };
}

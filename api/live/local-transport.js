import { EVERY_DEVICE, liveTopic, statsTopic } from './messages.js';

/** @import { Link, Outside } from './index.js' */
/** @import { LiveItem } from './messages.js' */

/**
 * Where one process is all there is: its readers hear of a change in the same turn. Others may subscribe at the
 * embedded broker.
 *
 * @param {Outside} outside
 * @returns {Link}
 */
export function createLocalLink(outside) {
  const audience = createAudience();

  return {
    isWanted: (device) => audience.hears(device) || outside.isWanted(),

    publish(device, items, committedAt) {
      audience.tell(device, items, committedAt);
      if (outside.isWanted()) outside.send(liveTopic(device), Buffer.from(JSON.stringify(items)));
    },

    async listen(devices, listener) {
      audience.add(devices, listener);
      return () => void audience.remove(devices, listener);
    },

    tellStats(process, snapshot) {
      if (outside.isWanted()) outside.send(statsTopic(process), Buffer.from(snapshot));
    },

    // There are no others.
    listenStats() {},

    // Nothing is lost on the way.
    onMissed: () => () => {},
    checks: {},
    async start() {},
    async stop() {},
    get listening() {
      return audience.devices.length > 0;
    },
  };
}

/**
 * Told of changes of one device.
 *
 * @callback Listener
 * @param {LiveItem[]} items
 * @param {number} committedAt when the oldest of them was committed, or as much of that as is known, in ms of this process's
 *   `performance.now()`
 */

/** Who listens to which devices, in this process. */
export function createAudience() {
  /** @type {Map<string, Set<Listener>>} by device id, or `EVERY_DEVICE` */
  const listeners = new Map();

  return {
    /** @param {string[]} devices ids, or `EVERY_DEVICE` @param {Listener} listener @returns {string[]} those that nobody listened to before */
    add(devices, listener) {
      const opened = devices.filter((device) => !listeners.has(device));
      for (const device of opened) listeners.set(device, new Set());
      for (const device of devices) listeners.get(device)?.add(listener);
      return opened;
    },

    /** @param {string[]} devices @param {Listener} listener @returns {string[]} those that nobody listens to any more */
    remove(devices, listener) {
      for (const device of devices) listeners.get(device)?.delete(listener);
      const closed = devices.filter((device) => listeners.get(device)?.size === 0);
      for (const device of closed) listeners.delete(device);
      return closed;
    },

    /** @param {string} device */
    hears: (device) => listeners.has(EVERY_DEVICE) || listeners.has(device),

    /** @param {string} device @param {LiveItem[]} items @param {number} committedAt */
    tell(device, items, committedAt) {
      for (const listener of listeners.get(device) ?? []) listener(items, committedAt);
      for (const listener of listeners.get(EVERY_DEVICE) ?? []) listener(items, committedAt);
    },

    /** Devices that somebody listens to, `EVERY_DEVICE` maybe among them. */
    get devices() {
      return [...listeners.keys()];
    },
  };
}

import { EVERY_DEVICE, liveTopic, statsTopic } from './messages.js';

/** @import { Transport, BrokerClients } from './index.js' */
/** @import { LiveItem } from './messages.js' */

/**
 * The transport of a single process: its readers receive a change in the same turn of the event loop. Clients of the embedded
 * broker may subscribe too.
 *
 * @param {BrokerClients} brokerClients
 * @returns {Transport}
 */
export function createLocalTransport(brokerClients) {
  const hub = createHub();

  return {
    isWanted: (device) => hub.hasSubscribers(device) || brokerClients.isWanted(),

    publish(device, items, committedAt) {
      hub.publish(device, items, committedAt);
      if (brokerClients.isWanted()) brokerClients.send(liveTopic(device), Buffer.from(JSON.stringify(items)));
    },

    async listen(devices, listener) {
      hub.add(devices, listener);
      return () => void hub.remove(devices, listener);
    },

    publishStats(process, snapshot) {
      if (brokerClients.isWanted()) brokerClients.send(statsTopic(process), Buffer.from(snapshot));
    },

    // There is no other process.
    onStats() {},

    // No change is lost within a process.
    onMissed: () => () => {},
    checks: {},
    async start() {},
    async stop() {},
    get listening() {
      return hub.devices.length > 0;
    },
  };
}

/**
 * Receives the changes of one device.
 *
 * @callback Listener
 * @param {LiveItem[]} items
 * @param {number} committedAt estimated commit of the oldest item, in ms of this process's `performance.now()`
 */

/** The subscribers of this process, by device. */
export function createHub() {
  /** @type {Map<string, Set<Listener>>} by device id, or `EVERY_DEVICE` */
  const listeners = new Map();

  return {
    /** @param {string[]} devices ids, or `EVERY_DEVICE` @param {Listener} listener @returns {string[]} the devices that had no subscriber before */
    add(devices, listener) {
      const opened = devices.filter((device) => !listeners.has(device));
      for (const device of opened) listeners.set(device, new Set());
      for (const device of devices) listeners.get(device)?.add(listener);
      return opened;
    },

    /** @param {string[]} devices @param {Listener} listener @returns {string[]} the devices that have no subscriber any more */
    remove(devices, listener) {
      for (const device of devices) listeners.get(device)?.delete(listener);
      const closed = devices.filter((device) => listeners.get(device)?.size === 0);
      for (const device of closed) listeners.delete(device);
      return closed;
    },

    /** @param {string} device */
    hasSubscribers: (device) => listeners.has(EVERY_DEVICE) || listeners.has(device),

    /** @param {string} device @param {LiveItem[]} items @param {number} committedAt */
    publish(device, items, committedAt) {
      for (const listener of listeners.get(device) ?? []) listener(items, committedAt);
      for (const listener of listeners.get(EVERY_DEVICE) ?? []) listener(items, committedAt);
    },

    /** Devices with subscribers. `EVERY_DEVICE` may be one of them. */
    get devices() {
      return [...listeners.keys()];
    },
  };
}

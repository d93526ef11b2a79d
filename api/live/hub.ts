import { ALARMS, EVERY_DEVICE, liveTopic, statsTopic } from './messages.js';

/** @import { AlarmListener, Transport, BrokerClients } from './index.js' */
/** @import { LiveItem } from './messages.js' */

/**
 * Creates the transport for an installation with a single process. Its readers receive a change in the same iteration of the event
 * loop. Clients of the embedded broker may subscribe too.
 *
 * @param {BrokerClients} brokerClients
 * @returns {Transport}
 */
export function createLocalTransport(brokerClients) {
  const hub = new Hub();
  /** @type {Set<AlarmListener>} */
  const alarmListeners = new Set();

  return {
    isWanted: (device) => hub.hasSubscribers(device) || brokerClients.followers.any,

    // This transport never reports new readers: within one process, no change is missed before a reader is known.
    onWanted() {},

    publish(device, items, committedAt) {
      hub.publish(device, items, committedAt);
      if (brokerClients.followers.any)
        brokerClients.send(
          liveTopic(device),
          Buffer.from(JSON.stringify(items)),
          false,
          performance.now() - committedAt,
        );
    },

    send(topic, payload, { retain, waited } = {}) {
      brokerClients.send(topic, Buffer.from(payload), retain, waited);
      return true;
    },

    async listen(devices, listener) {
      hub.add(devices, listener);
      return () => void hub.remove(devices, listener);
    },

    publishStats(process, snapshot) {
      if (brokerClients.followers.any) brokerClients.send(statsTopic(process), Buffer.from(snapshot));
    },

    demandOf: (kinds) => ({
      any: () => kinds.size > 0 && brokerClients.followers.anyAsking,
      wants: (kind, topic) => kinds.has(kind) && brokerClients.followers.ask(topic),
    }),

    // There are no other processes, so no statistics arrive.
    onStats() {},

    publishAlarm(message) {
      const alarm = JSON.stringify(message);
      for (const listener of alarmListeners) listener(alarm);
      if (brokerClients.followers.any) brokerClients.send(ALARMS, Buffer.from(alarm));
    },

    onAlarm: (listener) => void alarmListeners.add(listener),

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
 * @param {number} committedAt estimated time of the commit of the oldest item, in ms of `performance.now()` of this process
 */

/** Passes changes to the subscribers in this process, by device. */
export class Hub {
  /** Subscribers by device id, or by `EVERY_DEVICE`. @type {Map<string, Set<Listener>>} */
  #listeners = new Map();

  /**
   * Adds a subscriber.
   *
   * @param {string[]} devices ids of devices, or `EVERY_DEVICE`
   * @param {Listener} listener
   * @returns {string[]} the devices that had no subscriber before
   */
  add(devices, listener) {
    const opened = devices.filter((device) => !this.#listeners.has(device));
    for (const device of opened) this.#listeners.set(device, new Set());
    for (const device of devices) this.#listeners.get(device)?.add(listener);
    return opened;
  }

  /** Removes a subscriber. @param {string[]} devices @param {Listener} listener @returns {string[]} devices without any subscriber now */
  remove(devices, listener) {
    for (const device of devices) this.#listeners.get(device)?.delete(listener);
    const closed = devices.filter((device) => this.#listeners.get(device)?.size === 0);
    for (const device of closed) this.#listeners.delete(device);
    return closed;
  }

  /** Checks whether a device has subscribers. @param {string} device id */
  hasSubscribers(device) {
    return this.#listeners.has(EVERY_DEVICE) || this.#listeners.has(device);
  }

  /** Passes changes to the subscribers of a device. @param {string} device id @param {LiveItem[]} items @param {number} committedAt see `Listener` */
  publish(device, items, committedAt) {
    for (const listener of this.#listeners.get(device) ?? []) listener(items, committedAt);
    for (const listener of this.#listeners.get(EVERY_DEVICE) ?? []) listener(items, committedAt);
  }

  /** Ids of devices with subscribers, possibly including `EVERY_DEVICE`. */
  get devices() {
    return [...this.#listeners.keys()];
  }
}

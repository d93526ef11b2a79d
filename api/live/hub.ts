import type { BrokerClients, ChannelListener, Transport } from './index.ts';
import { EVERY_DEVICE, type LiveItem, liveTopic, statsTopic } from './messages.ts';

/** For a single process. Readers and clients of the embedded broker receive a change in the same iteration of the event loop. */
export function createLocalTransport(brokerClients: BrokerClients): Transport {
  const hub = new Hub();

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

    // Named topics need no reader within one process: the publisher asks `NamedTopics.isAlways` first.
    publishAll() {},

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

    channel(topic) {
      const listeners: Set<ChannelListener> = new Set();
      return {
        publish(message) {
          const text = JSON.stringify(message);
          for (const listener of listeners) listener(text);
          if (brokerClients.followers.any) brokerClients.send(topic, Buffer.from(text));
        },
        subscribe: (listener) => void listeners.add(listener),
      };
    },

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
 * @param committedAt estimated time of the commit of the oldest item, in ms of `performance.now()` of this process
 */
export type Listener = (items: LiveItem[], committedAt: number) => void;

export class Hub {
  #listeners: Map<string, Set<Listener>> = new Map();

  /** @param devices ids, or `EVERY_DEVICE` @returns the devices that had no subscriber before */
  add(devices: string[], listener: Listener): string[] {
    const opened = devices.filter((device) => !this.#listeners.has(device));
    for (const device of opened) this.#listeners.set(device, new Set());
    for (const device of devices) this.#listeners.get(device)?.add(listener);
    return opened;
  }

  remove(devices: string[], listener: Listener): string[] {
    for (const device of devices) this.#listeners.get(device)?.delete(listener);
    const closed = devices.filter((device) => this.#listeners.get(device)?.size === 0);
    for (const device of closed) this.#listeners.delete(device);
    return closed;
  }

  hasSubscribers(device: string) {
    return this.#listeners.has(EVERY_DEVICE) || this.#listeners.has(device);
  }

  publish(device: string, items: LiveItem[], committedAt: number) {
    for (const listener of this.#listeners.get(device) ?? []) listener(items, committedAt);
    for (const listener of this.#listeners.get(EVERY_DEVICE) ?? []) listener(items, committedAt);
  }

  get devices() {
    return [...this.#listeners.keys()];
  }
}

import { liveItem } from './messages.js';

/** @import { Device, Sensor } from '../ingest/registry/cache.js' */
/** @import { Publish } from '../ingest/index.js' */
/** @import { NamedTopics } from './named-topics.js' */
/** @import { Transport } from './index.js' */

/** The first change of a device is published at once. The next ones wait for the end of this interval, in ms. */
const INTERVAL_MS = 50;

/** Items of one message. With names of 128 bytes this is about 100 KB. */
const MOST_ITEMS = 100;

/** Committed changes of a device that are not published yet. @typedef {{ sensors: Set<Sensor>, since: number }} Changes `since`: the oldest commit, in ms of `performance.now()` */

/**
 * Publishes what ingest has committed, only the newest value of each sensor. Most devices send less often than the interval, so
 * their changes are published without delay and wait only for the readers' own interval.
 */
export class Publisher {
  #transport;
  #named;
  /** Devices that were published in this interval, with their changes since then. @type {Map<Device, Changes>} */
  #recent = new Map();
  /** Devices without a change in the interval before. @type {Device[]} */
  #due = [];
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /**
   * @param {object} transport
   * @param {(device: string) => boolean} transport.isWanted whether the device may have subscribers
   * @param {Transport['publish']} transport.publish
   * @param {Pick<NamedTopics, 'isAlways' | 'publish' | 'publishSamples'>} named
   */
  constructor(transport, named) {
    this.#transport = transport;
    this.#named = named;
  }

  /**
   * Publishes committed changes, or keeps them for the next interval. A bound function, because the pipeline calls it for every
   * message, without a wrapper.
   *
   * @type {Publish}
   */
  publishChanges = (device, sensors, series) => {
    this.#named.publishSamples(device, series);
    if (sensors.length === 0 || !(this.#named.isAlways || this.#transport.isWanted(device.id))) return;
    let changes = this.#recent.get(device);
    if (!changes) {
      changes = { sensors: new Set(), since: 0 };
      this.#recent.set(device, changes);
      // One turn of the event loop settles many messages. Their changes leave together.
      if (this.#due.push(device) === 1) setImmediate(() => this.#publishDue());
      this.#timer ??= setInterval(() => this.#publishRecent(), INTERVAL_MS).unref();
    }
    if (changes.sensors.size === 0) changes.since = performance.now();
    for (const sensor of sensors) changes.sensors.add(sensor);
  };

  /** Publishes the changes that still wait. */
  stop() {
    this.#publishRecent();
    clearInterval(this.#timer);
  }

  /** @param {Device} device @param {Changes} changes */
  #send(device, { sensors, since }) {
    const items = [...sensors].map((sensor) => liveItem(device, sensor));
    sensors.clear();
    for (let from = 0; from < items.length; from += MOST_ITEMS) {
      const part = items.slice(from, from + MOST_ITEMS);
      this.#transport.publish(device.id, part, since);
      this.#named.publish(part, since);
    }
  }

  #publishDue() {
    const devices = this.#due;
    this.#due = [];
    for (const device of devices) {
      const changes = this.#recent.get(device);
      if (changes) this.#send(device, changes);
    }
  }

  #publishRecent() {
    for (const [device, changes] of this.#recent) {
      if (changes.sensors.size === 0) this.#recent.delete(device);
      else this.#send(device, changes);
    }
    if (this.#recent.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

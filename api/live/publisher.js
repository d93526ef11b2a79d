import { liveItem } from './messages.js';

/** @import { Device, Sensor } from '../ingest/registry/cache.js' */
/** @import { Publish } from '../ingest/index.js' */
/** @import { NamedTopics } from './named-topics.js' */
/** @import { Transport } from './index.js' */

/** The first change of a device is published at once. The next ones wait for the end of this interval, in ms. */
const INTERVAL_MS = 50;

/**
 * Period in ms after which an unfollowed change may be dropped. If a reader follows its device within one to
 * two of these periods, the change is published.
 */
const KEPT_MS = 2000;

/** Items of one message. With names of 128 bytes this is about 100 KB. */
const MOST_ITEMS = 100;

/** Committed changes of a device that are not published yet. @typedef {{ sensors: Set<Sensor>, since: number }} Changes `since`: the oldest commit, in ms of `performance.now()` */

/**
 * Publishes the changes that ingest has committed, only the newest value of each sensor. Most devices send
 * less often than the interval. So their changes are published without delay, and wait only for the interval
 * of the readers.
 */
export class Publisher {
  #transport;
  #named;
  /** Devices that were published in this interval, with their changes since then. @type {Map<Device, Changes>} */
  #recent = new Map();
  /**
   * Devices whose first change of the interval is published at the end of this turn of the event loop.
   *
   * @type {Device[]}
   */
  #due = [];
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /**
   * Devices with changes that no reader followed, of this period and of the previous one.
   *
   * @type {[Set<Device>, Set<Device>]}
   */
  #unfollowed = [new Set(), new Set()];
  /** Start of the present period of `#unfollowed`, in ms of `performance.now()`. */
  #keptSince = 0;

  /**
   * @param {object} transport
   * @param {(device: string) => boolean} transport.isWanted whether the device may have subscribers
   * @param {Transport['publish']} transport.publish
   * @param {Transport['onWanted']} transport.onWanted
   * @param {Pick<NamedTopics, 'isAlways' | 'publish' | 'publishSamples'>} named
   */
  constructor(transport, named) {
    this.#transport = transport;
    this.#named = named;
    transport.onWanted(() => this.#publishUnfollowed());
  }

  /**
   * Publishes committed changes, or keeps them for the next interval. The function is bound, because the
   * pipeline calls it for every message, without a wrapper.
   *
   * @type {Publish}
   */
  publishChanges = (device, sensors, series) => {
    this.#named.publishSamples(device, series);
    if (sensors.length === 0) return;
    if (this.#named.isAlways || this.#transport.isWanted(device.id)) this.#note(device, sensors);
    else this.#keep(device);
  };

  /** @param {Device} device @param {Iterable<Sensor>} sensors whose changes are to be published */
  #note(device, sensors) {
    let changes = this.#recent.get(device);
    if (!changes) {
      changes = { sensors: new Set(), since: 0 };
      this.#recent.set(device, changes);
      // One turn of the event loop settles many messages. Their changes are published together.
      if (this.#due.push(device) === 1) setImmediate(() => this.#publishDue());
      this.#timer ??= setInterval(() => this.#publishRecent(), INTERVAL_MS).unref();
    }
    if (changes.sensors.size === 0) changes.since = performance.now();
    for (const sensor of sensors) changes.sensors.add(sensor);
  }

  /** @param {Device} device with a change that no reader follows */
  #keep(device) {
    const now = performance.now();
    if (now - this.#keptSince >= KEPT_MS) {
      const [newest, before] = this.#unfollowed;
      before.clear();
      this.#unfollowed = [before, newest];
      this.#keptSince = now;
    }
    this.#unfollowed[0].add(device);
  }

  /**
   * Publishes kept changes of devices that a reader follows now. A reader reads the database when it begins
   * to follow devices. It would miss changes that were committed after that read and before its announcement
   * arrived.
   */
  #publishUnfollowed() {
    for (const devices of this.#unfollowed) {
      for (const device of devices) {
        if (!this.#transport.isWanted(device.id)) continue;
        devices.delete(device);
        this.#note(
          device,
          [...device.sensors.values()].filter(({ ts }) => ts !== null),
        );
      }
    }
  }

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

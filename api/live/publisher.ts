import type { Publish } from '../ingest/index.ts';
import type { Device, Sensor } from '../ingest/registry/cache.ts';
import type { Transport } from './index.ts';
import { liveItem } from './messages.ts';
import type { NamedTopics } from './named-topics.ts';

/** In ms. The first change of a device is published at once. Later changes wait for the end of the interval. */
const INTERVAL_MS = 50;

/** In ms. If a reader follows a device within this period after a change, the change is published. After twice the period it is dropped. */
const FOLLOWED_WITHIN_MS = 2000;

/** Further items go into the next message. With names of 128 bytes, 100 items are about 100 KB. */
const MOST_ITEMS = 100;

/** Not published yet. `since`: the oldest commit, in ms of `performance.now()` */
type Changes = { sensors: Set<Sensor>; since: number };

/** Most devices send less often than once per interval, so their changes are published without delay. */
export class Publisher {
  #transport;
  #named;
  /** Devices that were published in this interval, with their changes since then. */
  #recent: Map<Device, Changes> = new Map();
  /** Devices whose first change of the interval is published at the end of this iteration of the event loop. */
  #due: Device[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** No reader followed these devices when they changed, in this period and in the previous one. */
  #unfollowed: [Set<Device>, Set<Device>] = [new Set(), new Set()];
  /** When the present period of `#unfollowed` began, in ms of `performance.now()`. */
  #keptSince = 0;

  constructor(
    transport: {
      isWanted: (device: string) => boolean;
      publish: Transport['publish'];
      onWanted: Transport['onWanted'];
    },
    named: Pick<NamedTopics, 'isAlways' | 'publish' | 'publishSamples'>,
  ) {
    this.#transport = transport;
    this.#named = named;
    transport.onWanted(() => this.#publishUnfollowed());
  }

  /** Bound to this object, because the pipeline calls it for every message without a wrapper. */
  publishChanges: Publish = (device, sensors, series) => {
    this.#named.publishSamples(device, series);
    if (sensors.length === 0) return;
    if (this.#named.isAlways || this.#transport.isWanted(device.id)) this.#note(device, sensors);
    else this.#keep(device);
  };

  #note(device: Device, sensors: Iterable<Sensor>) {
    let changes = this.#recent.get(device);
    if (!changes) {
      changes = { sensors: new Set(), since: 0 };
      this.#recent.set(device, changes);
      // One iteration of the event loop settles many messages. Their changes are published together.
      if (this.#due.push(device) === 1) setImmediate(() => this.#publishDue());
      this.#timer ??= setInterval(() => this.#publishRecent(), INTERVAL_MS).unref();
    }
    if (changes.sensors.size === 0) changes.since = performance.now();
    for (const sensor of sensors) changes.sensors.add(sensor);
  }

  #keep(device: Device) {
    const now = performance.now();
    if (now - this.#keptSince >= FOLLOWED_WITHIN_MS) {
      const [newest, before] = this.#unfollowed;
      before.clear();
      this.#unfollowed = [before, newest];
      this.#keptSince = now;
    }
    this.#unfollowed[0].add(device);
  }

  /**
   * A reader reads the database when it begins to follow devices, and then announces these devices to the processes that commit. Without
   * this function it would miss changes that were committed after its read and before its announcement arrived.
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

  stop() {
    this.#publishRecent();
    clearInterval(this.#timer);
  }

  #send(device: Device, { sensors, since }: Changes) {
    const items = [...sensors].map((sensor) => liveItem(device, sensor));
    sensors.clear();
    for (let from = 0; from < items.length; from += MOST_ITEMS) {
      const part = items.slice(from, from + MOST_ITEMS);
      this.#transport.publish(device.id, part, since);
      this.#named.publish(device, part, since);
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

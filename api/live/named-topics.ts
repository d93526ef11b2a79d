import { identifyDevice, identifySensor } from '../../schema/ids.ts';
import type { Device } from '../ingest/registry/cache.ts';
import type { Series } from '../ingest/sample-writer.ts';
import { type LiveItem, liveItem, liveTopic } from './messages.ts';

const MOST_ITEMS = 100;

/** A full cache is emptied. */
const MAX_TOPICS = 100_000;

export type NamedTopic = 'name' | 'samples' | 'sensors';

/** With QoS 0. @param options `waited`: ms since the oldest commit @returns false: the message was dropped */
export type SendLive = (
  topic: string,
  payload: string,
  options?: { retain?: boolean; waited?: number },
) => boolean;

export interface Demand {
  any: () => boolean;
  wants: (kind: NamedTopic, topic: string) => boolean;
}

/** Is called with each newest value after the value was published on its named topics. */
export interface NamedFollower {
  /** `sensorTopic`: has the value; `deviceTopic`: above the named topics of the device */
  publish: (item: LiveItem, device: Device, sensorTopic: string, deviceTopic: string) => void;
  /** the device went online or offline */
  publishState: (device: Device, deviceTopic: string) => void;
  /** the device was retired */
  remove: (device: Device, deviceTopic: string) => void;
  /** the broker may have lost its retained messages */
  forget: () => void;
}

/**
 * Publishes live changes on topics with names, next to `iot/live/{device id}`:
 *
 *     iot/live/{device}                      the message of iot/live/{device id}
 *     iot/live/{device}/samples              all samples of each message, not only the newest
 *     iot/live/{device}/sensors/{sensor}     the newest value of one sensor, retained by setting
 *
 * A topic contains a name only if the id is computed from that name. Otherwise the topic contains the id,
 * because births may give several devices or sensors the same name.
 */
export class NamedTopics {
  #demand;
  #send;
  #isRetained;
  #followers: NamedFollower[] = [];
  /** Levels of other topics, first those of statistics and announcements of processes. The topic of a device must not use them. */
  #reserved = new Set(['stats', 'readers']);
  /** values are published even if no client asks for them */
  isAlways;
  #deviceTopics: Map<string, { device: string | null; topic: string }> = new Map();
  /** By sensor id. `above`: topic of the device. */
  #sensorTopics: Map<string, { above: string; name: string | null; topic: string }> = new Map();

  constructor({
    demand,
    send,
    isRetained,
  }: {
    demand: Demand;
    send: SendLive;
    isRetained: boolean;
  }) {
    this.#demand = demand;
    this.#send = send;
    this.#isRetained = isRetained;
    this.isAlways = isRetained;
  }

  /** `level`: after `iot/live`. Must be called before the first message. */
  reserve(level: string) {
    this.#reserved.add(level);
  }

  follow(follower: NamedFollower) {
    this.#followers.push(follower);
    this.isAlways = true;
  }

  publish(device: Device, items: LiveItem[], committedAt: number) {
    const [first] = items;
    if (!first || !(this.isAlways || this.#demand.any())) return;
    const topic = this.#deviceTopic(first);
    const waited = performance.now() - committedAt;
    if (topic !== liveTopic(first.device_id) && this.#demand.wants('name', topic))
      this.#send(topic, JSON.stringify(items), { waited });
    for (const item of items) {
      const sensorTopic = this.#sensorTopic(topic, item);
      if (this.isAlways || this.#demand.wants('sensors', sensorTopic))
        this.#send(sensorTopic, JSON.stringify(item), { retain: this.#isRetained, waited });
      for (const follower of this.#followers) follower.publish(item, device, sensorTopic, topic);
    }
  }

  publishSamples(device: Device, series: Series[]) {
    const [first] = series;
    if (!first || !this.#demand.any()) return;
    const topic = `${this.#topicOf(device)}/samples`;
    if (!this.#demand.wants('samples', topic)) return;
    const items = series.flatMap(({ known, times, values }) =>
      Array.from(times, (ts, index) => liveItem(device, { ...known, ts, value: Number(values[index]) })),
    );
    for (let from = 0; from < items.length; from += MOST_ITEMS)
      this.#send(topic, JSON.stringify(items.slice(from, from + MOST_ITEMS)));
  }

  publishState(device: Device) {
    for (const follower of this.#followers) follower.publishState(device, this.#topicOf(device));
  }

  /** The device was retired. */
  remove(device: Device) {
    const above = this.#topicOf(device);
    for (const follower of this.#followers) follower.remove(device, above);
    if (!this.#isRetained) return;
    for (const sensor of device.sensors.values())
      this.#send(this.#sensorTopic(above, liveItem(device, sensor)), '', { retain: true });
  }

  /** The broker may have lost its retained messages. */
  forget() {
    for (const follower of this.#followers) follower.forget();
  }

  #topicOf = (device: Device): string => this.#deviceTopic({ device: device.name, device_id: device.id });

  #deviceTopic(item: Pick<LiveItem, 'device' | 'device_id'>): string {
    const { device, device_id } = item;
    const known = this.#deviceTopics.get(device_id);
    if (known?.device === device) return known.topic;
    const topic = liveTopic(this.#deviceLevel(item));
    remember(this.#deviceTopics, device_id, { device, topic });
    return topic;
  }

  #deviceLevel({ device, device_id }: Pick<LiveItem, 'device' | 'device_id'>): string {
    const isName = device !== null && !this.#reserved.has(device) && identifyDevice(device)?.id === device_id;
    return isName ? levelOf(device) : device_id;
  }

  #sensorTopic(above: string, item: LiveItem): string {
    const { name, sensor_id } = item;
    const known = this.#sensorTopics.get(sensor_id);
    // Sensors of several devices may have the same id.
    if (known?.above === above && known.name === name) return known.topic;
    const topic = `${above}/sensors/${sensorLevel(item)}`;
    remember(this.#sensorTopics, sensor_id, { above, name, topic });
    return topic;
  }
}

/** A hash must be computed to find out whether an id comes from a name. A full map is emptied first. */
function remember<T>(topics: Map<string, T>, id: string, topic: T) {
  if (topics.size >= MAX_TOPICS) topics.clear();
  topics.set(id, topic);
}

const sensorLevel = ({ device_id, name, sensor_id }: LiveItem): string =>
  name !== null && identifySensor(device_id, name)?.id === sensor_id ? levelOf(name) : sensor_id;

/** `%`, `/`, `+` and `#` are percent-encoded. */
export const levelOf = (name: string): string =>
  name.replace(/[%/+#]/g, (character) => encodeURIComponent(character));

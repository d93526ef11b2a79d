import { liveItem, liveTopic } from './messages.js';

/** @import { Device } from '../ingest/registry/cache.js' */
/** @import { Series } from '../ingest/sample-writer.js' */
/** @import { HomeAssistant } from './home-assistant.js' */
/** @import { LiveItem } from './messages.js' */

/** Items of one message, as in `publisher.js`. */
const MOST_ITEMS = 100;

/** @typedef {'name' | 'samples' | 'sensors'} NamedTopic the kinds of further topics */

/**
 * Sends a message with QoS 0.
 *
 * @callback SendLive
 * @param {string} topic
 * @param {string} payload
 * @param {{ retain?: boolean, waited?: number }} [options] `waited`: ms since the oldest commit in it
 */

/**
 * Who wants further topics.
 *
 * @typedef {object} Demand
 * @property {() => boolean} any whether anybody may want any of them
 * @property {(kind: NamedTopic, topic: string) => boolean} wants
 */

/**
 * Publishes live changes on topics with names, next to `iot/live/{device id}`:
 *
 *     iot/live/{device}                      the same message
 *     iot/live/{device}/samples              all samples of each message, not only the newest
 *     iot/live/{device}/sensors/{sensor}     the newest value of one sensor, retained by setting
 *
 * A device or sensor without a name has its id there.
 */
export class NamedTopics {
  #demand;
  #send;
  #isRetained;
  #homeAssistant;

  /**
   * @param {object} deps
   * @param {Demand} deps.demand
   * @param {SendLive} deps.send
   * @param {boolean} deps.isRetained LIVE_RETAIN
   * @param {HomeAssistant | null} deps.homeAssistant
   */
  constructor({ demand, send, isRetained, homeAssistant }) {
    this.#demand = demand;
    this.#send = send;
    this.#isRetained = isRetained;
    this.#homeAssistant = homeAssistant;
  }

  /** Whether changes are published even if nobody subscribes. */
  get isAlways() {
    return this.#isRetained || this.#homeAssistant !== null;
  }

  /** @param {LiveItem[]} items of one device @param {number} committedAt ms of `performance.now()` */
  publish(items, committedAt) {
    const [first] = items;
    if (!first || !(this.isAlways || this.#demand.any())) return;
    const topic = deviceTopic(first);
    const waited = performance.now() - committedAt;
    if (first.device !== null && this.#demand.wants('name', topic))
      this.#send(topic, JSON.stringify(items), { waited });
    for (const item of items) {
      const sensorTopic = topicOfSensor(item);
      if (this.isAlways || this.#demand.wants('sensors', sensorTopic))
        this.#send(sensorTopic, JSON.stringify(item), { retain: this.#isRetained, waited });
      this.#homeAssistant?.announce(item, sensorTopic);
    }
  }

  /** @param {Device} device @param {Series[]} series of one message */
  publishSamples(device, series) {
    const [first] = series;
    if (!first || !this.#demand.any()) return;
    const topic = `${deviceTopic({ device: device.name, device_id: device.id })}/samples`;
    if (!this.#demand.wants('samples', topic)) return;
    const items = series.flatMap(({ known, times, values }) =>
      Array.from(times, (ts, index) => liveItem(device, { ...known, ts, value: Number(values[index]) })),
    );
    for (let from = 0; from < items.length; from += MOST_ITEMS)
      this.#send(topic, JSON.stringify(items.slice(from, from + MOST_ITEMS)));
  }

  /** The broker may have lost what it retained. */
  forget() {
    this.#homeAssistant?.forget();
  }
}

/** The levels of the stats of processes, of their announcements and of alarms, which no device may have. */
const RESERVED = new Set(['stats', 'readers', 'alarms']);

/** @param {Pick<LiveItem, 'device' | 'device_id'>} item */
const deviceTopic = ({ device, device_id }) =>
  liveTopic(device === null || RESERVED.has(device) ? device_id : levelOf(device));

/** @param {LiveItem} item */
const topicOfSensor = (item) => `${deviceTopic(item)}/sensors/${levelOf(item.name ?? item.sensor_id)}`;

/** @param {string} name @returns {string} a level of a topic: `%`, slash, `+` and `#` are percent-encoded */
export const levelOf = (name) => name.replace(/[%/+#]/g, (character) => encodeURIComponent(character));

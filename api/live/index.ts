import { BrokerTransport } from './broker-transport.js';
import { HomeAssistant } from './home-assistant.js';
import { createLocalTransport } from './hub.js';
import { NamedTopics } from './named-topics.js';
import { Publisher } from './publisher.js';

export { WAITED } from './broker-transport.js';
export { InstallationStats } from './installation-stats.js';
export { EVERY_DEVICE, FIRST_FURTHER_LEVEL, isFurtherTopic, isStatsTopic, reachesLive } from './messages.js';

/** @import { Send } from '../ingest/pipeline.js' */
/** @import { Device } from '../ingest/registry/cache.js' */
/** @import { Context } from '../observability/index.js' */
/** @import { Check } from '../observability/readiness.js' */
/** @import { Listener } from './hub.js' */
/** @import { LiveItem } from './messages.js' */
/** @import { Demand, NamedTopic, SendLive } from './named-topics.js' */

/**
 * The clients of the embedded broker.
 *
 * @typedef {object} BrokerClients
 * @property {{ any: boolean, anyAsking: boolean, ask: (topic: string) => boolean }} followers `any`: whether
 *   a client subscribes to `iot/live/...`; `anyAsking`: whether the filter of any client asks for named topics
 *   (`named-topics.js`); `ask`: whether the filter of any client asks for this named topic
 * @property {Send} send
 */

/** No followers, for an external broker, which does not report its subscribers. */
export const NOBODY = { any: false, anyAsking: false, ask: () => false };

/** @typedef {(process: string, snapshot: Buffer) => boolean} StatsListener returns false if the snapshot is not valid */

/** @typedef {(alarm: string) => void} AlarmListener receives a change of an alarm as JSON */

/**
 * Carries live changes from the process that commits them to the processes that serve readers.
 *
 * @typedef {object} Transport
 * @property {(device: string) => boolean} isWanted whether a device may have subscribers
 * @property {(listener: () => void) => void} onWanted called when devices get their first subscribers in
 *   other processes
 * @property {(device: string, items: LiveItem[], committedAt: number) => void} publish publishes changes. `committedAt`: time of
 *   the commit of the oldest item, in ms of `performance.now()`
 * @property {SendLive} send publishes on a named topic (`named-topics.js`), or on a topic of Home Assistant
 * @property {(kinds: Set<NamedTopic>) => Demand} demandOf returns the subscribers of named topics of these kinds
 * @property {(devices: string[], listener: Listener) => Promise<() => void>} listen subscribes to device ids, or to
 *   `EVERY_DEVICE`. The promise resolves to a function that unsubscribes. From then on no change is missed, unless the
 *   broker is not connected
 * @property {(process: string, snapshot: string) => void} publishStats publishes statistics to the other processes
 * @property {(listener: StatsListener) => void} onStats adds a listener for the snapshots of all processes, possibly
 *   including this process
 * @property {(message: object) => void} publishAlarm publishes a change of an alarm to the other processes, and to the
 *   readers of this process
 * @property {(listener: AlarmListener) => void} onAlarm adds a listener for the changes of alarms of all processes
 * @property {(listener: () => void) => () => void} onMissed called when changes may have been missed and now arrive again.
 *   Returns a function that removes the listener
 * @property {Record<string, () => Check>} checks
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} stop
 * @property {boolean} listening whether this process has subscribers
 */

/**
 * Creates the service that publishes committed changes to readers. With MQTT_URL the changes go through that broker, on
 * a separate connection. With the embedded broker they stay in this process. Changes are sent with QoS 0, because a
 * reader that misses a change reads the database again.
 *
 * @param {Context} context
 * @param {object} deps
 * @param {BrokerClients} deps.brokerClients
 * @param {number} deps.keepAliveMs
 */
export function createLive({ config, logger, metrics }, { brokerClients, keepAliveMs }) {
  const { mqtt } = config;
  const { topics, isRetained, homeAssistantPrefix: prefix } = config.live;
  /** @type {Transport} */
  const transport = mqtt.url
    ? new BrokerTransport({
        mqtt,
        publishesAll: config.live.isAlways || topics.length > 0 || isRetained || prefix !== undefined,
        keepAliveMs,
        logger,
        metrics,
      })
    : createLocalTransport(brokerClients);
  /** @type {SendLive} */
  const send = (topic, payload, options) => transport.send(topic, payload, options);
  const named = new NamedTopics({
    demand: transport.demandOf(new Set(topics)),
    send,
    isRetained,
    homeAssistant: prefix === undefined ? null : new HomeAssistant({ prefix, send }),
  });
  // A broker that restarted without persistence has lost its retained messages.
  transport.onMissed(() => named.forget());
  const publisher = new Publisher(transport, named);

  return {
    publishChanges: publisher.publishChanges,
    /** Publishes the new state of a device. @param {Device} device */
    publishState: (device) => named.publishState(device),
    /** Removes the retained messages of a device that was retired. @param {Device} device */
    remove: (device) => named.remove(device),
    /** @type {Transport['listen']} */
    listen: (devices, listener) => transport.listen(devices, listener),
    /** @type {Transport['onMissed']} */
    onMissed: (listener) => transport.onMissed(listener),
    /** @type {Transport['publishStats']} */
    publishStats: (process, snapshot) => transport.publishStats(process, snapshot),
    /** @type {Transport['onStats']} */
    onStats: (listener) => transport.onStats(listener),
    /** @type {Transport['publishAlarm']} */
    publishAlarm: (message) => transport.publishAlarm(message),
    /** @type {Transport['onAlarm']} */
    onAlarm: (listener) => transport.onAlarm(listener),
    checks: transport.checks,
    start: () => transport.start(),
    async stop() {
      publisher.stop();
      await transport.stop();
    },
    get listening() {
      return transport.listening;
    },
  };
}

/** @typedef {ReturnType<typeof createLive>} Live */

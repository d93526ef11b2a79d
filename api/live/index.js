import { createBrokerTransport } from './broker-transport.js';
import { createLocalTransport } from './local-transport.js';
import { createPublisher } from './publisher.js';

/** @import { Send } from '../ingest/pipeline.js' */
/** @import { Context } from '../observability/context.js' */
/** @import { Check } from '../observability/readiness.js' */
/** @import { Listener } from './local-transport.js' */
/** @import { LiveItem } from './messages.js' */

/**
 * The clients of the embedded broker.
 *
 * @typedef {object} BrokerClients
 * @property {() => boolean} isWanted whether any client subscribes to `iot/live/...`
 * @property {Send} send
 */

/** @typedef {(process: string, snapshot: Buffer) => boolean} StatsListener false: the snapshot is not valid */

/**
 * Carries live changes from the process that commits them to the processes that serve readers.
 *
 * @typedef {object} Transport
 * @property {(device: string) => boolean} isWanted whether a device may have subscribers
 * @property {(device: string, items: LiveItem[], committedAt: number) => void} publish `committedAt`: the commit of the
 *   oldest item, in ms of `performance.now()`
 * @property {(devices: string[], listener: Listener) => Promise<() => void>} listen subscribes to device ids, or to
 *   `EVERY_DEVICE`. Resolves to a function that unsubscribes. When it resolves, no later change is missed, or the broker
 *   is not connected
 * @property {(process: string, snapshot: string) => void} publishStats to the other processes
 * @property {(listener: StatsListener) => void} onStats receives the snapshots of all processes, possibly of this one too
 * @property {(listener: () => void) => () => void} onMissed called when changes may have been missed and now arrive again.
 *   Returns a function that removes the listener
 * @property {Record<string, () => Check>} checks
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} stop
 * @property {boolean} listening whether this process has subscribers
 */

/**
 * Publishes committed changes to readers. With MQTT_URL they go through that broker, on a connection of their own. With the
 * embedded broker they stay in this process. Changes have QoS 0: a reader that misses one reads the database again.
 *
 * @param {Context} context
 * @param {object} deps
 * @param {BrokerClients} deps.brokerClients
 * @param {number} deps.keepAliveMs
 */
export function createLive({ config, logger, metrics }, { brokerClients, keepAliveMs }) {
  const { mqtt } = config;
  const transport = mqtt.url
    ? createBrokerTransport({ mqtt, keepAliveMs, logger, metrics })
    : createLocalTransport(brokerClients);
  const publisher = createPublisher(transport);

  return {
    publishChanges: publisher.publishChanges,
    listen: transport.listen,
    onMissed: transport.onMissed,
    publishStats: transport.publishStats,
    onStats: transport.onStats,
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

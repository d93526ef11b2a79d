import { createBrokerLink } from './broker-transport.js';
import { createLocalLink } from './local-transport.js';
import { createPublisher } from './publisher.js';

/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Send } from '../ingest/pipeline.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Check } from '../observability/readiness.js' */
/** @import { Listener } from './local-transport.js' */
/** @import { LiveItem } from './messages.js' */

/**
 * Clients of the embedded broker.
 *
 * @typedef {object} Outside
 * @property {() => boolean} isWanted whether any of them follows `iot/live/...`
 * @property {Send} send
 */

/** @typedef {(process: string, snapshot: Buffer) => boolean} StatsListener false: it is none of ours */

/**
 * The way from whoever commits to whoever reads.
 *
 * @typedef {object} Link
 * @property {(device: string) => boolean} isWanted whether anybody may be listening to a device
 * @property {(device: string, items: LiveItem[], committedAt: number) => void} publish `committedAt`: the oldest of
 *   them, in ms of `performance.now()`
 * @property {(devices: string[], listener: Listener) => Promise<() => void>} listen ids, or
 *   `EVERY_DEVICE`; settles with what ends it when nothing published from now on is missed, or when the broker is away
 * @property {(process: string, snapshot: string) => void} tellStats to the other processes
 * @property {(listener: StatsListener) => void} listenStats to all of them, this one included maybe
 * @property {(listener: () => void) => () => void} onMissed told when changes may have been missed, and come again now;
 *   returns what ends it
 * @property {Record<string, () => Check>} checks
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} stop
 * @property {boolean} listening whether anybody of this process listens
 */

/**
 * Committed changes on their way to readers: through the broker of MQTT_URL, on a connection of their own, or within
 * this process where the broker is the embedded one. They are QoS 0: what is lost is read again by those who follow it.
 *
 * @param {object} deps
 * @param {Config} deps.config
 * @param {Outside} deps.outside
 * @param {number} deps.keepAliveMs
 * @param {Logger} deps.logger
 * @param {Metrics} deps.metrics
 */
export function createLive({ config, outside, keepAliveMs, logger, metrics }) {
  const { mqtt } = config;
  const link = mqtt.url ? createBrokerLink({ mqtt, keepAliveMs, logger, metrics }) : createLocalLink(outside);
  const publisher = createPublisher(link);

  return {
    note: publisher.note,
    listen: link.listen,
    onMissed: link.onMissed,
    tellStats: link.tellStats,
    listenStats: link.listenStats,
    checks: link.checks,
    start: () => link.start(),
    async stop() {
      publisher.stop();
      await link.stop();
    },
    get listening() {
      return link.listening;
    },
  };
}

/** @typedef {ReturnType<typeof createLive>} Live */

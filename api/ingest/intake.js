import { createBroker } from './broker/index.js';
import { createHost } from './sparkplug/host.js';
import { createSubscriber } from './subscriber/index.js';

/** What is being settled when the process ends gets this long, in ms; the rest stays unacknowledged. */
const DRAIN_MS = 2000;

/** The last wills of the connections that an embedded broker closes get this long. */
const WILLS_MS = 1000;

/**
 * Publishes to devices, with QoS 0; while no broker is connected it goes nowhere.
 *
 * @callback Send
 * @param {string} topic
 * @param {Buffer} payload
 */

/**
 * Where messages come in: the embedded broker, or a subscription at the broker that MQTT_URL names. An orderly
 * end loses no acknowledgement that could still be given.
 *
 * @param {object} parts
 * @param {import('../../common/settings/index.js').Config} parts.config
 * @param {import('../tls/own-certificate.js').OwnCertificate | null} [parts.tls] of the embedded broker
 * @param {import('./pipeline.js').HandleMessage} parts.handleMessage
 * @param {import('./backpressure/byte-budget.js').ByteBudget} parts.room for messages
 * @param {import('./progress.js').Progress} parts.progress of `handleMessage`
 * @param {() => boolean} parts.isHopeless nothing can be settled now
 * @param {() => number} parts.clock epoch ms
 * @param {import('pino').Logger} parts.logger
 * @param {import('../metrics.js').Metrics} parts.metrics
 * @param {(error: Error) => void} parts.onFatal
 * @param {number} parts.keepAliveMs
 * @param {import('../credentials/accounts.js').Accounts} parts.accounts
 * @param {number} parts.recheckMs
 */
export function createIntake(parts) {
  const {
    config,
    tls = null,
    handleMessage,
    room,
    progress,
    isHopeless,
    clock,
    logger,
    metrics,
    onFatal,
    keepAliveMs,
    accounts,
    recheckMs,
  } = parts;
  const { mqtt } = config;
  const { maxMessageBytes } = config.ingest;
  const host = config.sparkplug ? createHost({ id: mqtt.clientId, clock }) : null;
  const source = mqtt.url
    ? createSubscriber({ mqtt, host, handleMessage, clock, logger, onFatal, keepAliveMs })
    : createBroker({
        mqtt,
        tls,
        accounts,
        recheckMs,
        host,
        maxMessageBytes,
        handleMessage,
        room,
        clock,
        logger,
        metrics,
      });

  return {
    start: () => source.start(),

    /** Takes nothing new and waits, bounded, until what was taken is settled. */
    async drain() {
      source.quiesce();
      await progress.untilSettled({ withinMs: DRAIN_MS, isHopeless });
      const { unsettled } = progress;
      if (unsettled > 0) logger.warn({ unsettled }, 'messages stay unacknowledged; they will come again');
    },

    async stop() {
      await source.stop();
      await progress.untilSettled({ withinMs: WILLS_MS });
    },

    /** @type {Send} */
    send: (topic, payload) => source.send(topic, payload),

    /** Ends the connections of a device whose credential has changed. @param {string} deviceId */
    recheck: (deviceId) => source.recheck(deviceId),

    /** Whether clients of the embedded broker follow `iot/live/...`; never behind an external one. */
    get hasFollowers() {
      return source.hasFollowers;
    },

    /** @returns {number} port of the embedded broker; 0 behind an external one */
    get port() {
      return source.port;
    },

    check: () => source.check(),
  };
}

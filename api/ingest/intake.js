import { setTimeout as sleep } from 'node:timers/promises';
import { createBroker } from './broker/index.js';
import { createSubscriber } from './subscriber/index.js';

/** What is being settled when the process ends gets this long, in ms; the rest stays unacknowledged. */
const DRAIN_MS = 4000;

/** The last wills of the connections that an embedded broker closes get this long. */
const WILLS_MS = 1000;

/**
 * Where messages come in: the embedded broker, or a subscription at the broker that MQTT_URL names. Keeps count of
 * what is unsettled, so that an orderly end loses no acknowledgement that could still be given.
 *
 * @param {object} parts
 * @param {import('../../common/settings.js').Config} parts.config
 * @param {import('./accept.js').Accept} parts.accept
 * @param {import('./budget.js').Room} parts.room for messages
 * @param {() => number} parts.clock epoch ms
 * @param {import('pino').Logger} parts.logger
 * @param {import('../metrics.js').Metrics} parts.metrics
 * @param {(error: Error) => void} parts.onFatal
 */
export function createIntake({ config, accept, room, clock, logger, metrics, onFatal }) {
  let unsettled = 0;

  /** @type {import('./accept.js').Accept} */
  async function counted(message) {
    unsettled++;
    try {
      return await accept(message);
    } finally {
      unsettled--;
    }
  }

  /** @param {number} withinMs */
  async function untilSettled(withinMs) {
    const until = Date.now() + withinMs;
    while (unsettled > 0 && Date.now() < until) await sleep(20);
  }

  const { mqtt } = config;
  const { maxMessageBytes } = config.ingest;
  const source = mqtt.url
    ? createSubscriber({ mqtt, accept: counted, clock, logger, onFatal })
    : createBroker({ mqtt, maxMessageBytes, accept: counted, room, clock, logger, metrics });

  return {
    start: () => source.start(),

    /** Takes nothing new and waits, bounded, until what was taken is settled. */
    async drain() {
      source.quiesce();
      await untilSettled(DRAIN_MS);
      if (unsettled > 0) logger.warn({ unsettled }, 'messages stay unacknowledged; they will come again');
    },

    async stop() {
      await source.stop();
      await untilSettled(WILLS_MS);
    },

    /** @returns {number} port of the embedded broker; 0 behind an external one */
    get port() {
      return source.port;
    },

    check: () => source.check(),
  };
}

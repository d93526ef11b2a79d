import { createIngest } from './ingest/index.js';
import { createIntake } from './ingest/intake.js';
import { createProgress } from './progress.js';

/**
 * The half of the system that takes messages and settles them: broker -> ingest -> store.
 *
 * @param {object} parts
 * @param {import('../common/settings.js').Config} parts.config
 * @param {import('./store/index.js').Store} parts.store
 * @param {import('./live.js').Live} parts.live
 * @param {import('./vitals.js').Vitals} parts.vitals
 * @param {() => number} parts.clock epoch ms
 * @param {import('./periods.js').Periods} parts.periods
 * @param {import('pino').Logger} parts.logger
 * @param {import('./metrics.js').Metrics} parts.metrics
 * @param {(error: Error) => void} parts.onFatal
 */
export function createReceiving({ config, store, live, vitals, clock, periods, logger, metrics, onFatal }) {
  const ingest = createIngest({ config, store, live, clock, logger, metrics, vitals });
  const progress = createProgress();
  const intake = createIntake({
    config,
    accept: progress.watch(ingest.accept),
    room: ingest.room,
    progress,
    isHopeless: () => ingest.isStuck,
    clock,
    logger,
    metrics,
    onFatal,
    keepAliveMs: periods.keepAlive,
  });
  metrics.gauge('iot_ingest_unsettled_bytes', 'Bytes of messages being settled', () => ingest.unsettledBytes);

  return {
    checks: { broker: intake.check, acknowledgements: progress.check },

    async start() {
      await ingest.start();
      await intake.start();
    },

    /** Takes nothing new, settles what is under way where that is possible, and leaves the rest unacknowledged. */
    async stop() {
      await intake.drain();
      ingest.giveUp();
      await intake.stop();
    },

    /** @returns {number} port of the embedded broker; 0 behind an external one */
    get mqttPort() {
      return intake.port;
    },
  };
}

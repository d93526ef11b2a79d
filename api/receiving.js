/**
 * The half of the system that takes messages from the broker and has them settled: broker -> ingest -> store.
 *
 * @param {object} parts
 * @param {import('../common/settings/index.js').Config} parts.config
 * @param {import('./tls/own-certificate.js').OwnCertificate | null} parts.tls of the embedded broker
 * @param {import('./ingest/index.js').Ingest} parts.ingest
 * @param {import('./credentials/accounts.js').Accounts} parts.accounts
 * @param {typeof import('./ingest/intake.js').createIntake} parts.openIntake
 * @param {() => number} parts.clock epoch ms
 * @param {import('./periods.js').Periods} parts.periods
 * @param {import('pino').Logger} parts.logger
 * @param {import('./metrics.js').Metrics} parts.metrics
 * @param {(error: Error) => void} parts.onFatal
 */
export function createReceiving(parts) {
  const { config, tls, ingest, accounts, openIntake, clock, periods, logger, metrics, onFatal } = parts;
  const { progress } = ingest;
  const intake = openIntake({
    config,
    tls,
    handleMessage: ingest.handleMessage,
    room: ingest.room,
    progress,
    isHopeless: () => ingest.isStuck,
    clock,
    logger,
    metrics,
    onFatal,
    keepAliveMs: periods.keepAlive,
    accounts,
    recheckMs: periods.recheck,
  });

  return {
    checks: { broker: intake.check, acknowledgements: () => progress.check(periods.patience) },

    start: () => intake.start(),

    /** @type {import('./ingest/intake.js').Send} */
    send: (topic, payload) => intake.send(topic, payload),

    recheck: intake.recheck,

    /** Takes nothing new, settles what is under way where that is possible, and leaves the rest unacknowledged. */
    async stop() {
      await intake.drain();
      ingest.giveUp();
      await intake.stop();
    },

    /** Whether clients of the embedded broker follow `iot/live/...`; never behind an external one. */
    get hasFollowers() {
      return intake.hasFollowers;
    },

    /** @returns {number} port of the embedded broker; 0 behind an external one */
    get mqttPort() {
      return intake.port;
    },
  };
}

import { randomUUID } from 'node:crypto';
import { uuidText } from '../../schema/ids.js';
import { createPatience } from '../patience.js';
import { createBehind } from './behind.js';
import { createLeases } from './leases.js';
import { createPacker } from './packer.js';
import { createSteps } from './steps.js';

const REPORT_EVERY_MS = 60_000;

/** A step that the database does not answer is waited for no longer than this when the process ends, in ms. */
const STOP_WITHIN_MS = 3000;

/**
 * Packs closed hours into history for as long as the process runs, giving way to ingest.
 *
 * @param {object} parts
 * @param {import('../../common/settings/index.js').Config} parts.config
 * @param {import('../store/index.js').Store} parts.store
 * @param {() => number} parts.clock epoch ms
 * @param {import('../trusted-clock.js').TrustedClock} parts.trustedClock
 * @param {() => boolean} parts.isPressed whether requests of ingest wait for a place
 * @param {number} parts.pauseMs between two looks whether something is due
 * @param {import('pino').Logger} parts.logger
 * @param {import('../metrics.js').Metrics} parts.metrics
 */
export function createPacking(parts) {
  const { config, store, clock, trustedClock, isPressed, pauseMs, logger, metrics } = parts;
  const { latestGroups, batchDays } = config.retention;
  const behind = createBehind({ clock, batchDays, logger });
  const patience = createPatience({ logger, onRetry: () => metrics.retries.inc() });
  const steps = createSteps({ patience, isPressed, overdueMs: behind.overdueMs });
  const owner = `${config.mqtt.clientId}:${randomUUID()}`;
  const report = createRareReports(logger);
  const packer = createPacker({
    store,
    groups: latestGroups,
    clock: trustedClock,
    steps,
    leases: createLeases({ store: store.packLeases, owner, logger }),
    behind,
    observer: {
      onPacked(samples) {
        metrics.packedHours.inc();
        metrics.packedSamples.inc(samples);
      },
      onHour: (seconds) => metrics.packSeconds.observe(seconds),
      onUnreadable(of, rows) {
        metrics.unreadableRows.inc(rows);
        report('rows cannot be read, and are not packed', { ...textsOf(of), rows });
      },
      onRefused(of, err) {
        report('an hour cannot be packed, and holds up its group of devices', { ...textsOf(of), err });
      },
    },
  });
  metrics.gauge(
    'iot_pack_behind_seconds',
    'Since packed_until of the group of devices that is the farthest back; two to three hours when all is well',
    () => behind.behindMs() / 1000,
  );
  metrics.gauge(
    'iot_pack_behind_most_seconds',
    'Farther behind than this somebody has to look: a quarter of BATCH_DAYS',
    () => behind.mostMs / 1000,
  );
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<void>} */
  let round = Promise.resolve();

  async function packOnce() {
    try {
      await packer.packDue();
      behind.warn();
    } catch (error) {
      if (!steps.stopped) report('packing failed, and goes on with the next look', { err: error });
    }
  }

  function packLater() {
    if (steps.stopped) return;
    // Processes that were started together do not look together.
    const pause = pauseMs * (0.5 + Math.random());
    timer = setTimeout(() => {
      round = packOnce().then(packLater);
    }, pause).unref();
  }

  return {
    packDue: packer.packDue,

    start: packLater,

    /** Ends after the step under way, and gives the lease back. */
    async stop() {
      clearTimeout(timer);
      steps.stop();
      /** @type {NodeJS.Timeout | undefined} */
      let limit;
      const tooLong = new Promise((resolve) => {
        limit = setTimeout(resolve, STOP_WITHIN_MS);
      });
      await Promise.race([round, tooLong]);
      clearTimeout(limit);
    },
  };
}

/** @typedef {ReturnType<typeof createPacking>} Packing */

/** @param {import('./sensor-hour.js').DeviceHour} of */
const textsOf = ({ device, sensor, hour }) => ({
  device: uuidText(device),
  ...(sensor && { sensor: uuidText(sensor) }),
  hour: new Date(hour),
});

/** What goes wrong with one hour goes wrong with many. @param {import('pino').Logger} logger */
function createRareReports(logger) {
  /** @type {Map<string, number>} */
  const reportedAt = new Map();
  /** @param {string} text one of a few @param {Record<string, unknown>} details of the newest case */
  return (text, details) => {
    const now = performance.now();
    if (now - (reportedAt.get(text) ?? Number.NEGATIVE_INFINITY) < REPORT_EVERY_MS) return;
    reportedAt.set(text, now);
    logger.error(details, text);
  };
}

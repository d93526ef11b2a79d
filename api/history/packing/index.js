import { randomUUID } from 'node:crypto';
import { uuidText } from '../../../schema/ids.js';
import { closingOf, DAY_MS } from '../../../schema/rules.js';
import { createRetry } from '../../store/retry.js';
import { createLeases, createPacker } from './packer.js';
import { createSteps } from './steps.js';

/** @import { Logger } from 'pino' */
/** @import { Context } from '../../observability/context.js' */
/** @import { ClockGuard } from '../../store/clock-guard.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { DeviceHour } from './sensor-hour.js' */

const REPORT_EVERY_MS = 60_000;

/** A step that the database does not answer is waited for no longer than this when the process ends, in ms. */
const STOP_WITHIN_MS = 3000;

/**
 * Packing: it moves closed hours into history while the process runs, and gives way to ingest. `packer.js` chooses the hours that are due,
 * `passes.js` reads them for the first and second time, and `sensor-hour.js` packs one sensor.
 *
 * @param {Context} context
 * @param {object} deps
 * @param {Store} deps.store
 * @param {ClockGuard} deps.clockGuard
 * @param {() => boolean} deps.isPressed whether requests of ingest wait for a place
 * @param {number} deps.pauseMs between two checks for due hours
 */
export function createPacking({ config, clock, logger, metrics }, deps) {
  const { store, clockGuard, isPressed, pauseMs } = deps;
  const { latestGroups, batchDays } = config.retention;
  const behind = createBehind({ clock, batchDays, logger });
  const retry = createRetry({ logger, onRetry: () => metrics.retries.inc() });
  const steps = createSteps({ retry, isPressed, overdueMs: behind.overdueMs });
  const owner = `${config.mqtt.clientId}:${randomUUID()}`;
  const report = createRareReports(logger);
  const packer = createPacker({
    store,
    groups: latestGroups,
    clock: clockGuard,
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
    'iot_pack_lag_seconds',
    'Age of packed_until of the last group of devices; two to three hours is normal',
    () => behind.behindMs() / 1000,
  );
  metrics.gauge(
    'iot_pack_lag_limit_seconds',
    'Lag that raises an alert: a quarter of BATCH_DAYS',
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
    // A random pause keeps processes that started together from checking together.
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

/** @param {DeviceHour} of */
const textsOf = ({ device, sensor, hour }) => ({
  device: uuidText(device),
  ...(sensor && { sensor: uuidText(sensor) }),
  hour: new Date(hour),
});

/** Limits log lines, because an error in one hour occurs in many. @param {Logger} logger */
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

/** Packing that is this share of BATCH_DAYS behind needs somebody to look: at the end of them samples are lost. */
const ALERT_SHARE = 1 / 4;

const WARN_EVERY_MS = 600_000;

/**
 * How far packing is behind, by what was last read of each group.
 *
 * @param {object} deps
 * @param {() => number} deps.clock epoch ms
 * @param {number} deps.batchDays `BATCH_DAYS`
 * @param {Logger} deps.logger
 */
export function createBehind({ clock, batchDays, logger }) {
  /** @type {Map<number, number>} */
  const packedUntil = new Map();
  let warnedAt = Number.NEGATIVE_INFINITY;

  const mostMs = ALERT_SHARE * batchDays * DAY_MS;

  const oldest = () => Math.min(...packedUntil.values());

  return {
    /** @param {number} group @param {number} until epoch ms */
    note(group, until) {
      packedUntil.set(group, until);
    },

    /** Farther behind than this many ms somebody has to look. */
    mostMs,

    /** @returns {number} ms from `packed_until` of the group that is the farthest back; 0 as long as nothing is known */
    behindMs: () => (packedUntil.size === 0 ? 0 : Math.max(0, clock() - oldest())),

    /** @returns {number} ms for which the oldest hour could have been packed */
    overdueMs: () => (packedUntil.size === 0 ? 0 : Math.max(0, clock() - closingOf(oldest()))),

    /** Logs a warning from time to time while packing is far behind. */
    warn() {
      const now = clock();
      const behindMs = this.behindMs();
      if (behindMs <= mostMs || now - warnedAt < WARN_EVERY_MS) return;
      warnedAt = now;
      const hours = Math.round(behindMs / 3_600_000);
      logger.warn(
        { hours, batchDays },
        'packing is far behind: what is not packed when its batches expire is lost',
      );
    },
  };
}

/** @typedef {ReturnType<typeof createBehind>} Behind */

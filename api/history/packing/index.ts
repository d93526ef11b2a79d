import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { uuidText } from '../../../schema/ids.ts';
import { closingOf, DAY_MS } from '../../../schema/rules.ts';
import type { Context } from '../../observability/index.ts';
import type { ClockGuard } from '../../store/clock-guard.ts';
import { Retry, type Store } from '../../store/index.ts';
import { createLeases, createPacker, type Leases } from './packer.ts';
import type { DeviceHour } from './sensor-hour.ts';
import { Steps } from './steps.ts';

export { createLeases } from './packer.ts';
export { iteratePages, Steps } from './steps.ts';

export type { Leases };

const REPORT_EVERY_MS = 60_000;

/** Longest time, in ms, for which an ending process waits for a request that the database does not answer. */
const STOP_WITHIN_MS = 3000;

/**
 * Creates the task that packs while the process runs: it moves the samples of closed hours into history, and rests while ingest is under
 * pressure. `packer.ts` chooses the hours that are due, `passes.ts` reads them for the first and second time, and `sensor-hour.ts` packs
 * one sensor.
 */
export function createPacking(
  { config, clock, logger, metrics }: Context,
  deps: {
    store: Store;
    clockGuard: ClockGuard;
    /** whether requests of ingest wait for the congestion window */
    isPressed: () => boolean;
    /** time between two checks for due hours */
    pauseMs: number;
  },
) {
  const { store, clockGuard, isPressed, pauseMs } = deps;
  const { latestGroups, batchDays } = config.retention;
  const behind = new Behind({ clock, batchDays, logger });
  const retry = new Retry({ logger, onRetry: () => metrics.retries.inc() });
  const steps = new Steps({ retry, isPressed, overdueMs: () => behind.overdueMs() });
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
    'Age of packed_until of the last group of devices; one to two hours are normal',
    () => behind.behindMs() / 1000,
  );
  metrics.gauge(
    'iot_pack_lag_limit_seconds',
    'Lag that raises an alert: a quarter of BATCH_DAYS',
    () => behind.mostMs / 1000,
  );
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();

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
    // Random pauses keep processes that started together from checking at the same moments.
    const pause = pauseMs * (0.5 + Math.random());
    timer = setTimeout(() => {
      round = packOnce().then(packLater);
    }, pause).unref();
  }

  return {
    packDue: packer.packDue,

    start: packLater,

    /** Stops after the request in progress, and releases the lease. */
    async stop() {
      clearTimeout(timer);
      steps.stop();
      let limit: NodeJS.Timeout | undefined;
      const tooLong = new Promise((resolve) => {
        limit = setTimeout(resolve, STOP_WITHIN_MS);
      });
      await Promise.race([round, tooLong]);
      clearTimeout(limit);
    },
  };
}

const textsOf = ({ device, sensor, hour }: DeviceHour) => ({
  device: uuidText(device),
  ...(sensor && { sensor: uuidText(sensor) }),
  hour: new Date(hour),
});

/** Limits log lines, because an error that occurs in one hour often occurs in many. */
function createRareReports(logger: Logger) {
  const reportedAt: Map<string, number> = new Map();
  /** @param text one of a few fixed texts @param details details of the newest error */
  return (text: string, details: Record<string, unknown>) => {
    const now = performance.now();
    if (now - (reportedAt.get(text) ?? Number.NEGATIVE_INFINITY) < REPORT_EVERY_MS) return;
    reportedAt.set(text, now);
    logger.error(details, text);
  };
}

/**
 * Share of BATCH_DAYS by which packing may be behind before an operator must act. Samples that are not packed within
 * BATCH_DAYS are lost.
 */
const ALERT_SHARE = 1 / 4;

const WARN_EVERY_MS = 600_000;

/** Computes how far packing is behind, from the progress of each group that was last read. */
export class Behind {
  #clock;
  #batchDays;
  #logger;
  #packedUntil: Map<number, number> = new Map();
  #warnedAt = Number.NEGATIVE_INFINITY;
  /** Lag in ms from which an operator must act. */
  mostMs;

  constructor({
    clock,
    batchDays,
    logger,
  }: {
    /** epoch ms */
    clock: () => number;
    /** `BATCH_DAYS` */
    batchDays: number;
    logger: Logger;
  }) {
    this.#clock = clock;
    this.#batchDays = batchDays;
    this.#logger = logger;
    this.mostMs = ALERT_SHARE * batchDays * DAY_MS;
  }

  /** Notes the progress of a group. @param until epoch ms before which all hours are packed */
  note(group: number, until: number) {
    this.#packedUntil.set(group, until);
  }

  /** Returns how far packing is behind. @returns ms since the oldest `packed_until` of a group; 0 before any progress was read */
  behindMs(): number {
    return this.#packedUntil.size === 0 ? 0 : Math.max(0, this.#clock() - this.#oldest());
  }

  /** Returns how long packing is overdue. @returns ms since the oldest unpacked hour could have been packed */
  overdueMs(): number {
    return this.#packedUntil.size === 0 ? 0 : Math.max(0, this.#clock() - closingOf(this.#oldest()));
  }

  /** Logs a warning from time to time while packing is far behind. */
  warn() {
    const now = this.#clock();
    const behindMs = this.behindMs();
    if (behindMs <= this.mostMs || now - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now;
    const hours = Math.round(behindMs / 3_600_000);
    this.#logger.warn(
      { hours, batchDays: this.#batchDays },
      'packing is far behind: what is not packed when its batches expire is lost',
    );
  }

  /** Returns the oldest `packed_until` of all groups, in epoch ms. */
  #oldest() {
    return Math.min(...this.#packedUntil.values());
  }
}

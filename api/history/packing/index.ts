import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { uuidText } from '../../../schema/ids.ts';
import { closingOf, DAY_MS } from '../../../schema/rules.ts';
import { createLeases, Rounds, Steps } from '../../background/index.ts';
import type { Context } from '../../observability/index.ts';
import type { ClockGuard } from '../../store/clock-guard.ts';
import { Retry, type Store } from '../../store/index.ts';
import type { DeviceHour } from './pack-sensor-hour.ts';
import type { OnPacked } from './packed-report.ts';
import { createPacker } from './packer.ts';

export type { OnPacked, PackedHour } from './packed-report.ts';

const REPORT_EVERY_MS = 60_000;

/** In ms. The database may not answer the last request of an ending process. */
const STOP_WITHIN_MS = 3000;

/**
 * Moves the samples of closed hours into history, and rests while ingest is under pressure. `packer.ts` chooses the
 * hours that are due, `passes.ts` reads them for the first and second time, and `pack-sensor-hour.ts` packs one sensor.
 */
export function createPacking(
  { config, clock, logger, metrics }: Context,
  deps: {
    store: Store;
    clockGuard: ClockGuard;
    pauseMs: number;
  },
) {
  const { store, clockGuard, pauseMs } = deps;
  // Requests of ingest that wait for the congestion window go first.
  const { isPressed } = store.health;
  const { latestGroups, batchDays } = config.retention;
  const behind = new Behind({ clock, batchDays, logger });
  const retry = new Retry({ logger, onRetry: () => metrics.retries.inc() });
  const steps = new Steps({ retry, isPressed, overdueMs: () => behind.overdueMs() });
  const owner = `${config.mqtt.clientId}:${randomUUID()}`;
  const report = createRareReports(logger);
  const listeners: OnPacked[] = [];
  const packer = createPacker({
    store,
    groups: latestGroups,
    clock: clockGuard,
    steps,
    leases: createLeases({ store: store.packLeases, owner, logger }),
    behind,
    listeners,
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
  const rounds = new Rounds({
    steps,
    pauseMs,
    async work() {
      await packer.packDue();
      behind.warn();
    },
    logger,
    failed: 'packing failed, and goes on with the next check',
  });
  return {
    packDue: packer.packDue,
    onPacked: (listener: OnPacked) => void listeners.push(listener),
    start: () => rounds.start(),
    stop: () => rounds.stop(STOP_WITHIN_MS),
  };
}

const textsOf = ({ device, sensor, hour }: DeviceHour) => ({
  device: uuidText(device),
  ...(sensor && { sensor: uuidText(sensor) }),
  hour: new Date(hour),
});

export type Packing = ReturnType<typeof createPacking>;

/** An error that occurs in one hour often occurs in many. */
function createRareReports(logger: Logger) {
  const reportedAt: Map<string, number> = new Map();
  /** @param text one of a few fixed texts @param details of the newest error */
  return (text: string, details: Record<string, unknown>) => {
    const now = performance.now();
    if (now - (reportedAt.get(text) ?? Number.NEGATIVE_INFINITY) < REPORT_EVERY_MS) return;
    reportedAt.set(text, now);
    logger.error(details, text);
  };
}

/** Share of BATCH_DAYS. Samples that are not packed within BATCH_DAYS are lost. */
const ALERT_SHARE = 1 / 4;

const WARN_EVERY_MS = 600_000;

/** By the progress of each group that was last read. */
export class Behind {
  #clock;
  #batchDays;
  #logger;
  #packedUntil: Map<number, number> = new Map();
  #warnedAt = Number.NEGATIVE_INFINITY;
  /** In ms. An operator must act on a longer lag. */
  mostMs;

  constructor({
    clock,
    batchDays,
    logger,
  }: {
    clock: () => number;
    batchDays: number;
    logger: Logger;
  }) {
    this.#clock = clock;
    this.#batchDays = batchDays;
    this.#logger = logger;
    this.mostMs = ALERT_SHARE * batchDays * DAY_MS;
  }

  note(group: number, until: number) {
    this.#packedUntil.set(group, until);
  }

  /** In ms since the oldest `packed_until` of a group; 0 before any progress was read. */
  behindMs(): number {
    return this.#packedUntil.size === 0 ? 0 : Math.max(0, this.#clock() - this.#oldest());
  }

  /** In ms since the oldest unpacked hour could have been packed. */
  overdueMs(): number {
    return this.#packedUntil.size === 0 ? 0 : Math.max(0, this.#clock() - closingOf(this.#oldest()));
  }

  warn() {
    const now = this.#clock();
    const behindMs = this.behindMs();
    if (behindMs <= this.mostMs || now - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now;
    const hours = Math.round(behindMs / 3_600_000);
    this.#logger.warn(
      { hours, batchDays: this.#batchDays },
      'packing is far behind: samples that are not packed before their batches expire are lost',
    );
  }

  #oldest() {
    return Math.min(...this.#packedUntil.values());
  }
}

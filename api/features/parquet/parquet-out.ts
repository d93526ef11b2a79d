import { randomUUID } from 'node:crypto';
import { closingOf, DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import { createLeases, iteratePages, Rounds, Steps } from '../../background/index.ts';
import { createReading } from '../../history/reading/index.ts';
import type { Context } from '../../observability/index.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { ClockGuard } from '../../store/clock-guard.ts';
import { createLeaseStore, Retry, type Store } from '../../store/index.ts';
import { createBlockStore, createHourCompletion } from '../shared/blocks/index.ts';
import { exportedSensor, readSensors } from '../shared/columns/index.ts';
import type { Samples } from '../shared/columns/rows.ts';
import { createDayWriter, type DayWriter } from './day-writer.ts';
import { createDirectoryTarget, type Target } from './directory.ts';
import { createS3Target } from './s3.ts';
import type { ParquetPlace } from './settings.ts';

/**
 * Writes finished days as Parquet files. When the last hour of a UTC day has closed, a process writes the day of each group of devices,
 * with a manifest. The day is written again a day later, when it settles, and again an hour after even later samples arrived. The
 * statistics of history follow the same rule. The samples come from history and batches, as in an export, so imports are included. The
 * progress of a group is stored next to its files. So a second directory has its own progress and gets all its days, and a loss of the
 * database loses no progress.
 */
export function createParquetOut(
  { config, clock, logger, metrics }: Context,
  deps: {
    place: ParquetPlace;
    store: Store;
    clockGuard: ClockGuard;
    /** requests of ingest wait for the congestion window */
    isPressed: () => boolean;
    pauseMs: number;
  },
) {
  const { place, store, clockGuard, isPressed, pauseMs } = deps;
  const { latestGroups: groups, historyDays } = config.retention;
  const counters = declareCounters(metrics);
  const ending = new AbortController();
  const target = openTarget(place, ending.signal);
  const retry = new Retry({ logger, onRetry: () => metrics.retries.inc() });
  const writtenUntil: Map<number, number> = new Map();
  const lagMs = () =>
    writtenUntil.size === 0 ? 0 : Math.max(0, clock() - Math.min(...writtenUntil.values()));
  const steps = new Steps({ retry, isPressed, overdueMs: lagMs });
  const days = createDayWriter({
    target,
    groups,
    clock,
    readDay: createDayReader({ store, steps, groups, signal: ending.signal }),
    onFile({ rows, bytes }) {
      counters.files.inc();
      counters.rows.inc(rows);
      counters.bytes.inc(bytes);
    },
  });
  const progress = createProgress({ target, groups, clock: clockGuard });
  const hourCompletion = createHourCompletion({
    groups,
    clock: clockGuard,
    steps,
    leases: createLeases({
      store: createLeaseStore(store.session, 'parquet_lease'),
      owner: `${config.mqtt.clientId}:${randomUUID()}`,
      logger,
    }),
    readUntil: progress.readUntil,
    completeHour: createHourWriter({ store, steps, days, progress, clock, historyDays }),
    onUntil: (group, until) => writtenUntil.set(group, until),
  });
  const rounds = new Rounds({
    steps,
    pauseMs,
    work: hourCompletion.completeDue,
    logger,
    failed: 'completing Parquet files failed, and goes on with the next check',
    onFailure: () => counters.failures.inc(),
  });
  metrics.gauge(
    'iot_parquet_lag_seconds',
    'Age of the end of the last hour that the Parquet files of the slowest group of devices include; one to two hours are normal',
    () => lagMs() / 1000,
  );

  return {
    completeDue: hourCompletion.completeDue,

    start: () => rounds.start(),

    /** The next process writes an unfinished day as a whole. */
    async stop() {
      const ended = rounds.stop();
      ending.abort();
      await ended;
    },
  };
}

function declareCounters({ declare }: Pick<Metrics, 'declare'>) {
  return {
    files: declare.counter('iot_parquet_files_total', 'Parquet files of days that were written'),
    rows: declare.counter('iot_parquet_rows_total', 'Samples in Parquet files of days that were written'),
    bytes: declare.counter('iot_parquet_bytes_total', 'Bytes of Parquet files of days that were written'),
    failures: declare.counter(
      'iot_parquet_failures_total',
      'Checks for finished days that failed, and are repeated',
    ),
  };
}

function openTarget(place: ParquetPlace, signal: AbortSignal): Target {
  return 'bucket' in place ? createS3Target(place, signal) : createDirectoryTarget(place.directory);
}

/** The samples of a day of a group, sensor by sensor in the order of the tables, oldest first. Each request to the database is a step. */
function createDayReader({
  store,
  steps,
  groups,
  signal,
}: {
  store: Store;
  steps: Steps;
  groups: number;
  signal: AbortSignal;
}) {
  const { session, samples, packed, scans } = store.everywhere;
  const reading = createReading({
    samples: inSteps(samples, steps),
    packed: inSteps(packed, steps),
    scans: { samples: inSteps(scans.samples, steps), packed: inSteps(scans.packed, steps) },
    packProgress: inSteps(store.packProgress, steps),
  });

  const blocks = createBlockStore(session);

  async function* sensorsOf(group: number) {
    const devices = iteratePages((after) => steps.run(() => blocks.devicePage(group, null, after)));
    for await (const device of devices) {
      const rows = await steps.run(() => store.fleet.latestOfDevice({ group, bytes: device }));
      // Sensors without a newest value are included, because they may have imported samples.
      for (const row of rows) yield exportedSensor(row, Number.POSITIVE_INFINITY, groups);
    }
  }

  return (group: number, day: number): AsyncGenerator<Samples, void> =>
    readSensors(reading, sensorsOf(group), { from: day, to: day + DAY_MS }, signal);
}

/** Each call of the table's functions becomes a step. All of them must return a promise. */
const inSteps = <T extends object>(table: T, steps: Steps): T =>
  new Proxy(table, {
    get(methods, name) {
      const method = Reflect.get(methods, name) as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => steps.run(() => method.apply(methods, args));
    },
  });

/** All hours before `until` are written. `rewritten` lists the days with replaced files. All times are epoch ms. */
type GroupProgress = { until: number; rewritten: number[] };

function createProgress({
  target,
  groups,
  clock,
}: {
  target: Target;
  groups: number;
  clock: Pick<ClockGuard, 'now'>;
}) {
  const known: Map<number, GroupProgress> = new Map();
  const pathOf = (group: number) => `watermark/${group}.json`;

  async function write(group: number, { until, rewritten }: GroupProgress) {
    const watermark = {
      kind: 'watermark',
      group,
      groups,
      until: new Date(until).toISOString(),
      rewritten: rewritten.map((day) => new Date(day).toISOString()),
    };
    await target.write(pathOf(group), [Buffer.from(`${JSON.stringify(watermark)}\n`)]);
    known.set(group, { until, rewritten });
  }

  /**
   * The files of a new group begin with the day in which the Parquet output was first turned on. The day before is also written, when it
   * settles.
   */
  async function begin(group: number): Promise<GroupProgress> {
    const progress = { until: dayOf(await clock.now()), rewritten: [] };
    await write(group, progress);
    return progress;
  }

  async function read(group: number): Promise<GroupProgress> {
    const text = await target.read(pathOf(group));
    if (text === null) return begin(group);
    const { until, rewritten } = JSON.parse(text);
    const progress = { until: Date.parse(until), rewritten: rewritten.map(Date.parse) };
    known.set(group, progress);
    return progress;
  }

  return {
    read,
    write,

    /** In epoch ms. Reads the target only when the next hour may be due. */
    async readUntil(group: number): Promise<number> {
      const last = known.get(group);
      if (last && (await clock.now()) < closingOf(last.until)) return last.until;
      return (await read(group)).until;
    },
  };
}

function createHourWriter({
  store,
  steps,
  days,
  progress,
  clock,
  historyDays,
}: {
  store: Pick<Store, 'packing'>;
  steps: Steps;
  days: DayWriter;
  progress: ReturnType<typeof createProgress>;
  clock: () => number;
  historyDays: number;
}) {
  /** Due days in epoch ms; true: the day has settled. */
  async function dueDays(group: number, hour: number): Promise<Map<number, boolean>> {
    const due: Map<number, boolean> = new Map();
    const noticed = iteratePages((after) => steps.run(() => store.packing.lateDayPage(group, hour, after)));
    for await (const { day } of noticed) due.set(day, true);
    if (dayOf(hour + HOUR_MS) > hour) {
      // A day settles a day after its last hour has closed.
      due.set(dayOf(hour) - DAY_MS, true);
      due.set(dayOf(hour), false);
    }
    return due;
  }

  /** Writes the due days, and returns the new progress of the group. Both times are epoch ms. */
  return async (group: number, hour: number): Promise<number> => {
    const { rewritten } = await progress.read(group);
    const waiting = new Set(rewritten);
    const due = await dueDays(group, hour);
    for (const [day, settled] of [...due].sort(([a], [b]) => a - b)) {
      // Some samples of an older day may have expired. So its file is not written again.
      if (day <= clock() - historyDays * DAY_MS) continue;
      if (await days.write(group, day, settled)) waiting.add(day);
    }
    for (const day of waiting) if (!(await days.clean(group, day))) waiting.delete(day);
    const until = hour + HOUR_MS;
    await progress.write(group, { until, rewritten: [...waiting].sort((a, b) => a - b) });
    return until;
  };
}
